const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** Returns the port of an http or https address, which need not name its port. */
export const portOf = ({ port, protocol }: URL): string | undefined => port || DEFAULT_PORTS[protocol]
