/** Distinguishes local addresses from those of visitors. Pure. */
import { BlockList, isIPv6 } from 'node:net'

/** Networks without visitors from the Internet. */
function localNetworks(): BlockList {
  const networks = new BlockList()
  for (const [net, prefix] of [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
  ] as const)
    networks.addSubnet(net, prefix, 'ipv4')
  for (const [net, prefix] of [
    ['::', 127],
    ['fc00::', 7],
    ['fe80::', 10],
  ] as const)
    networks.addSubnet(net, prefix, 'ipv6')
  return networks
}

const local = localNetworks()

/** Is this a local address, which a proxy may show instead of all visitors' addresses? */
export function isLocalAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '') // a zone belongs to no address of the Internet
  return local.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}
