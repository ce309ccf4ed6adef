import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { attribute, decodeAddress, decodeResponse, encodeRequest, method, newTransaction } from './stun.ts';

// STUN's own first retransmission is at 500 ms; a probe within one machine or one rack need not wait for that.
const resendEveryMs = 200;

/**
 * Requests this socket's address from a STUN or TURN server over UDP, as a health check. Resolves with the round trip in ms; rejects after
 * `deadlineMs`.
 */
export async function probeStun(host: string, port: number, deadlineMs: number): Promise<number> {
  const started = performance.now();
  await sendRequest({ host, port, deadlineMs });
  return performance.now() - started;
}

/** Whether a STUN or TURN server answers within this time. */
export function answersStun(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return probeStun(host, port, timeoutMs).then(
    () => true,
    () => false,
  );
}

/** The address that a remote server sees for the local address `from`, of the same family; rejects after `deadlineMs`. */
export async function requestAddress(request: StunRequest & { readonly from: string }): Promise<string> {
  const address = await sendRequest(request);
  if (address === undefined || isIPv6(address.ip) !== isIPv6(request.from))
    throw new Error(`no address for ${request.from} from ${request.host}:${request.port}`);
  return address.ip;
}

interface StunRequest {
  readonly host: string;
  readonly port: number;
  readonly deadlineMs: number;
  /** The local address to send from; the system chooses where it is not given. */
  readonly from?: string;
}

type Address = ReturnType<typeof decodeAddress>;

/** The XOR-MAPPED-ADDRESS of the first answer to this request. */
function sendRequest({ host, port, deadlineMs, from }: StunRequest): Promise<Address> {
  const socket = createSocket(isIPv6(from ?? host) ? 'udp6' : 'udp4');
  if (from !== undefined) socket.bind({ address: from });
  const transaction = newTransaction();
  const packet = encodeRequest(method.binding, transaction, []);

  return new Promise<Address>((resolve, reject) => {
    const send = () => socket.send(packet, port, host);
    const resend = setInterval(send, resendEveryMs);
    const end = (result: Address | Error) => {
      clearInterval(resend);
      clearTimeout(deadline);
      socket.close();
      if (result instanceof Error) reject(result);
      else resolve(result);
    };
    const deadline = setTimeout(() => end(new Error(`no STUN answer from ${host}:${port}`)), deadlineMs);
    // A refused port is reported here before the server has bound it, so the probe continues until the deadline.
    socket.on('error', () => undefined);
    socket.on('message', (message) => {
      const response = decodeResponse(message);
      if (response?.transaction !== transaction.toString('hex')) return;
      const mapped = response.attributes.get(attribute.xorMappedAddress);
      if (mapped) end(decodeAddress(mapped, transaction));
    });
    send();
  });
}
