import { isLocalAddress, networkOf } from '../../lib/web/limits/network'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1::2:3', '2001:db8:1:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

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
