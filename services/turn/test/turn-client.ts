import { createHmac } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  attribute,
  decodeAddress,
  decodeResponse,
  encodeAddress,
  encodeRequest,
  method,
  newTransaction,
  type Attribute,
  type Credentials,
  type StunResponse,
} from '../src/stun.ts';

const answerDeadlineMs = 3000;
const resendEveryMs = 300;
const udp = 17;

export interface Login {
  readonly username: string;
  readonly password: string;
}

/** Credentials as signaling makes them, valid until `expiresAt` (Unix seconds). */
export function restLogin(secret: string, network: string, expiresAt: number): Login {
  const username = `${expiresAt}:${network}`;
  return { username, password: createHmac('sha1', secret).update(username).digest('base64') };
}

/** What a request came to: `ok`, or the STUN error code. */
export type Outcome = 'ok' | number;

/** A TURN client over UDP that asks for one thing at a time. */
export class TurnClient {
  readonly #socket: Socket;
  readonly #server: { readonly ip: string; readonly port: number };
  readonly #login: Login;
  #credentials: Credentials | undefined;

  private constructor(socket: Socket, server: { ip: string; port: number }, login: Login) {
    this.#socket = socket;
    this.#server = server;
    this.#login = login;
  }

  static async open(server: { ip: string; port: number }, login: Login): Promise<TurnClient> {
    const socket = createSocket(server.ip.includes(':') ? 'udp6' : 'udp4');
    socket.bind(0);
    await once(socket, 'listening');
    return new TurnClient(socket, server, login);
  }

  /** Allocates a relay address of the family, or of that which the server chooses. */
  async allocate(family?: 4 | 6): Promise<{ outcome: Outcome; relayed?: { ip: string; port: number } }> {
    const response = await this.#authorised(method.allocate, () => [
      [attribute.requestedTransport, Buffer.from([udp, 0, 0, 0])],
      ...(family === undefined
        ? []
        : [[attribute.requestedAddressFamily, Buffer.from([family === 4 ? 1 : 2, 0, 0, 0])] as const]),
    ]);
    const relayed = response.attributes.get(attribute.xorRelayedAddress);
    if (response.error !== undefined || !relayed) return { outcome: response.error ?? 0 };
    const address = decodeAddress(relayed, Buffer.from(response.transaction, 'hex'));
    return address === undefined ? { outcome: 'ok' } : { outcome: 'ok', relayed: address };
  }

  async permit(peer: string): Promise<Outcome> {
    const response = await this.#authorised(method.createPermission, (transaction) => [
      [attribute.xorPeerAddress, encodeAddress(peer, 9, transaction)],
    ]);
    return response.error ?? 'ok';
  }

  /** Keeps the allocation for so many seconds from now on; 0 gives it back. */
  async refresh(seconds: number): Promise<Outcome> {
    const lifetime = Buffer.alloc(4);
    lifetime.writeUInt32BE(seconds);
    const response = await this.#authorised(method.refresh, () => [[attribute.lifetime, lifetime]]);
    return response.error ?? 'ok';
  }

  /** Gives the allocation back, so that the next test finds the quota untouched. */
  async close(): Promise<void> {
    try {
      if (this.#credentials) await this.refresh(0);
    } finally {
      this.#socket.close();
    }
  }

  async #authorised(type: number, attributes: (transaction: Buffer) => Attribute[]): Promise<StunResponse> {
    const first = await this.#ask(type, attributes);
    const [realm, nonce] = [first.attributes.get(attribute.realm), first.attributes.get(attribute.nonce)];
    const challenged = first.error === 401 || first.error === 438;
    if (!challenged || !realm || !nonce || (this.#credentials && first.error === 401)) return first;
    this.#credentials = { ...this.#login, realm: realm.toString(), nonce: Buffer.from(nonce) };
    const second = await this.#ask(type, attributes);
    if (second.error === 401) this.#credentials = undefined;
    return second;
  }

  async #ask(type: number, attributes: (transaction: Buffer) => Attribute[]): Promise<StunResponse> {
    const transaction = newTransaction();
    const packet = encodeRequest(type, transaction, attributes(transaction), this.#credentials);
    const send = () => this.#socket.send(packet, this.#server.port, this.#server.ip);
    const signal = AbortSignal.timeout(answerDeadlineMs);
    const resend = setInterval(send, resendEveryMs);
    try {
      send();
      for (;;) {
        const [message] = (await once(this.#socket, 'message', { signal })) as [Buffer];
        const response = decodeResponse(message);
        if (response?.transaction === transaction.toString('hex')) return response;
      }
    } finally {
      clearInterval(resend);
    }
  }
}
