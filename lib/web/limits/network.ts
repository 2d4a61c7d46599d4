/** Whose address is it? Pure. */
import { BlockList, isIPv6 } from 'node:net'

/** Networks of machines that no visitor from the world has an address of. */
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

/** Is it an address of a machine or network of one's own, where a proxy may stand for all visitors? */
export function isLocalAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '') // a zone belongs to no address of the world
  return local.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}

/** What belongs to one visitor: an IPv4 address, or the /64 network of an IPv6 address, of which a visitor has all addresses. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  const groups = [...head, ...(address.includes('::') ? zeros : []), ...tail].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
