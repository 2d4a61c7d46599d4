import { isLocalAddress } from '../../lib/web/limits'

const local = ['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '169.254.9.9', '0.0.0.0']
const local6 = ['::1', '::', 'fd00::1', 'fe80::1', 'fe80::1%eth0', 'febf::1']
const others = [
  '203.0.113.7',
  '172.32.0.1',
  '11.0.0.1',
  '100.128.0.1',
  '2001:db8::1',
  'fec0::1',
  '::2',
  '64:ff9b::a00:1',
]

test('addresses of networks of their own are local, and no others', () => {
  expect([...local, ...local6].filter((address) => !isLocalAddress(address))).toEqual([])
  expect(others.filter(isLocalAddress)).toEqual([])
})
