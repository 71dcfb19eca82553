/**
 * Whether an address is of the public internet. Everything that the registries set apart (loopback, private,
 * link-local, carrier-grade NAT, documentation, multicast, translation prefixes …) is not:
 * https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry.
 */
import ipaddr from "ipaddr.js"

/** False for what cannot be read as an address, too. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  // IPv4 mapped into IPv6 is what it maps.
  const address = ipaddr.process(text)
  if (address.range() !== "unicast") return false
  return address instanceof ipaddr.IPv6 ? isPublicIpv6(address) : true
}

/** What the library's table calls unicast and is none: IPv4 in its old form, and site-local. */
function isPublicIpv6(address: ipaddr.IPv6): boolean {
  const { parts } = address
  const isOldIpv4 = parts.slice(0, 6).every((part) => part === 0)
  if (isOldIpv4) {
    const bytes = address.toByteArray().slice(-4)
    return new ipaddr.IPv4(bytes).range() === "unicast"
  }
  return ((parts[0] ?? 0) & 0xffc0) !== 0xfec0
}

/** The host of a URL as an address, without brackets and a last dot; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
  return ipaddr.isValid(host) ? host : undefined
}
