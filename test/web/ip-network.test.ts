import { isLocalAddress } from '../../lib/web/limits'

test.each(['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '169.254.9.9', '0.0.0.0', '::1', '::'])(
  '%s is local',
  (address) => {
    expect(isLocalAddress(address)).toBe(true)
  },
)
test.each(['fd00::1', 'fe80::1', 'fe80::1%eth0', 'febf::1'])('%s is local', (address) => {
  expect(isLocalAddress(address)).toBe(true)
})
test.each(['203.0.113.7', '172.32.0.1', '11.0.0.1', '100.128.0.1', '2001:db8::1', 'fec0::1', '::2', '64:ff9b::a00:1'])(
  '%s is not',
  (address) => {
    expect(isLocalAddress(address)).toBe(false)
  },
)
