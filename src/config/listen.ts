/** The form ADDRESS:PORT of `server.listen`. */

export interface ListenAddress {
  hostname: string
  port: number
}

/** Undefined when the text is no address; IPv6 is written in brackets and returned without them. */
export function parseListen(text: string): ListenAddress | undefined {
  const [, ipv6, name, digits] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const hostname = ipv6 ?? name
  const port = Number(digits)
  return hostname === undefined || port > 65_535 ? undefined : { hostname, port }
}

/** Whether only this machine can reach the address. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "::1" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
