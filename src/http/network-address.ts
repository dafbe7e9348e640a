// Whom a remote address belongs to: what is counted and slowed by address goes by this. An IPv4 address is one, also where
// it comes as IPv6; of IPv6 the first 64 bits are, since one host has all the addresses behind them.

/** The first twelve bytes of an IPv4 address that is written as IPv6 (RFC 4291, 2.5.5.2), in hex. */
const MAPPED = '00000000000000000000ffff';

/** Hex digits of the network part of an IPv6 address. */
const NETWORK_DIGITS = 16;

/** @param address 4 or 16 bytes as they travel; none when the connection is closed already */
export function networkOf(address: Uint8Array): string {
  const hex = Buffer.from(address.buffer, address.byteOffset, address.byteLength).toString('hex');
  if (hex.length < 32) return hex;
  return hex.startsWith(MAPPED) ? hex.slice(MAPPED.length) : hex.slice(0, NETWORK_DIGITS);
}
