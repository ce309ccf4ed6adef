import { createHash, createHmac, randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';

/**
 * The subset of STUN (RFC 8489) and TURN (RFC 8656) that a client of a TURN server needs: requests with or without long-term credentials, and the
 * attributes of the responses. FINGERPRINT is neither sent nor checked.
 */
export const method = { binding: 0x001, allocate: 0x003, refresh: 0x004, createPermission: 0x008 } as const;

export const attribute = {
  username: 0x0006,
  messageIntegrity: 0x0008,
  errorCode: 0x0009,
  lifetime: 0x000d,
  xorPeerAddress: 0x0012,
  realm: 0x0014,
  nonce: 0x0015,
  xorRelayedAddress: 0x0016,
  requestedAddressFamily: 0x0017,
  requestedTransport: 0x0019,
  xorMappedAddress: 0x0020,
} as const;

export type Attribute = readonly [type: number, value: Buffer];

/** Long-term credentials, with the realm and nonce of the server's 401. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly realm: string;
  readonly nonce: Buffer;
}

export interface StunResponse {
  readonly transaction: string;
  readonly attributes: ReadonlyMap<number, Buffer>;
  /** The code of an error response; undefined for a success. */
  readonly error: number | undefined;
}

const magicCookie = 0x2112a442;
const headerLength = 20;
const integrityLength = 24;
/** In front of the address in an attribute: a zero byte, the family and the port (RFC 8489, 14.1). */
const headOfAddress = 4;
const ipv4 = 1;
const ipv6 = 2;

/** A new transaction id (96 bits), which the response repeats. */
export function newTransaction(): Buffer {
  return randomBytes(12);
}

/** A request; signed where credentials are given. */
export function encodeRequest(
  type: number,
  transaction: Buffer,
  attributes: readonly Attribute[],
  credentials?: Credentials,
): Buffer {
  const body = attributes.map(encodeAttribute);
  if (credentials) {
    body.push(encodeAttribute([attribute.username, Buffer.from(credentials.username)]));
    body.push(encodeAttribute([attribute.realm, Buffer.from(credentials.realm)]));
    body.push(encodeAttribute([attribute.nonce, credentials.nonce]));
  }
  const content = Buffer.concat(body);
  const header = Buffer.alloc(headerLength);
  header.writeUInt16BE(type, 0);
  // The integrity covers a header whose length already counts the integrity attribute (RFC 8489, 14.5).
  header.writeUInt16BE(content.length + (credentials ? integrityLength : 0), 2);
  header.writeUInt32BE(magicCookie, 4);
  transaction.copy(header, 8);
  const unsigned = Buffer.concat([header, content]);
  return credentials ? Buffer.concat([unsigned, integrityOf(unsigned, credentials)]) : unsigned;
}

/** The response in `packet`, or undefined where it is not a STUN response. */
export function decodeResponse(packet: Buffer): StunResponse | undefined {
  if (packet.length < headerLength || packet.readUInt32BE(4) !== magicCookie) return undefined;
  const type = packet.readUInt16BE(0);
  if ((type & 0x0100) === 0) return undefined;

  const end = Math.min(packet.length, headerLength + packet.readUInt16BE(2));
  const attributes = new Map<number, Buffer>();
  for (let at = headerLength; at + 4 <= end;) {
    const length = packet.readUInt16BE(at + 2);
    const type = packet.readUInt16BE(at);
    // The first of several attributes of one type counts (RFC 8489, 14).
    if (!attributes.has(type)) attributes.set(type, packet.subarray(at + 4, Math.min(end, at + 4 + length)));
    at += 4 + Math.ceil(length / 4) * 4;
  }
  const code = attributes.get(attribute.errorCode);
  const failed = (type & 0x0110) === 0x0110;
  const error = failed
    ? code && code.length >= 4
      ? code.readUInt8(2) * 100 + code.readUInt8(3)
      : 0
    : undefined;
  return { transaction: packet.subarray(8, headerLength).toString('hex'), attributes, error };
}

/** The value of an XOR address attribute; of an IPv6 address the transaction id is part of the mask (RFC 8489, 14.2). */
export function encodeAddress(ip: string, port: number, transaction: Buffer): Buffer {
  const address = isIPv6(ip) ? ipv6Bytes(ip) : Buffer.from(ip.split('.').map(Number));
  const mask = maskOf(transaction);
  const value = Buffer.alloc(headOfAddress + address.length);
  value.writeUInt8(address.length === 16 ? ipv6 : ipv4, 1);
  value.writeUInt16BE(port ^ (magicCookie >>> 16), 2);
  address.forEach((byte, i) => value.writeUInt8(byte ^ mask.readUInt8(i), headOfAddress + i));
  return value;
}

/** The address in an XOR attribute of the response to this transaction; undefined where it is not one. */
export function decodeAddress(value: Buffer, transaction: Buffer): { ip: string; port: number } | undefined {
  const length = value.length - headOfAddress;
  const family = value.length < headOfAddress ? 0 : value.readUInt8(1);
  if (!(family === ipv4 && length === 4) && !(family === ipv6 && length === 16)) return undefined;
  const mask = maskOf(transaction);
  const bytes = value.subarray(headOfAddress).map((byte, i) => byte ^ mask.readUInt8(i));
  const port = value.readUInt16BE(2) ^ (magicCookie >>> 16);
  return { ip: family === ipv4 ? bytes.join('.') : ipv6Text(Buffer.from(bytes)), port };
}

function encodeAttribute([type, value]: Attribute): Buffer {
  const encoded = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  encoded.writeUInt16BE(type, 0);
  encoded.writeUInt16BE(value.length, 2);
  value.copy(encoded, 4);
  return encoded;
}

function integrityOf(unsigned: Buffer, { username, realm, password }: Credentials): Buffer {
  const key = createHash('md5').update(`${username}:${realm}:${password}`).digest();
  return encodeAttribute([attribute.messageIntegrity, createHmac('sha1', key).update(unsigned).digest()]);
}

function maskOf(transaction: Buffer): Buffer {
  const mask = Buffer.alloc(16);
  mask.writeUInt32BE(magicCookie, 0);
  transaction.copy(mask, 4);
  return mask;
}

/** In the spelling of RFC 5952. */
export function ipv6Text(bytes: Buffer): string {
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** The 16 bytes of an address that `isIPv6` accepts, without a zone. */
export function ipv6Bytes(text: string): Buffer {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const pair = (high: string | undefined, low: string | undefined) =>
    (Number(high) * 256 + Number(low)).toString(16);
  const plain = dotted ? `${dotted[1]}${pair(dotted[2], dotted[3])}:${pair(dotted[4], dotted[5])}` : text;
  const [left = '', right] = plain.split('::');
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const head = groups(left);
  const tail = groups(right);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return Buffer.from([...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
