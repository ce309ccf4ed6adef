/** The rates of requests for ICE servers, per socket and per network. SPEC rule TURN-11. */
import { Bucket } from '../core/buckets.ts';
import type { WireHost } from './wire.ts';

type IceHost = Pick<WireHost, 'limits' | 'now'> & { takeIceRequest(address: string): number | undefined };

/** The bucket of one socket. */
export function iceRequests(host: IceHost): Bucket {
  const perMinute = host.limits['socket.iceRequests'];
  return new Bucket(perMinute / 60, perMinute, host.now());
}

/** `undefined` where the socket and its network may ask now; otherwise how long to wait, in ms. A refused request takes from neither. */
export function waitForIce(host: IceHost, socket: Bucket, address: string): number | undefined {
  const now = host.now();
  if (!socket.has(1, now)) return socket.waitMs(1);
  const wait = host.takeIceRequest(address);
  if (wait === undefined) socket.take(1, now);
  return wait;
}
