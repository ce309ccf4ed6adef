/** `POST /v1/rooms/{room}/join`: exchanges a room id for a ticket. SPEC rules JOIN-1 to JOIN-3, JOIN-15, MOD-8. */
import { JoinAnswer, type JoinRequest } from '@parley/protocol/http';
import type { CallOptions } from '../call.ts';
import type { Ports } from '../ports.ts';
import { request, type Answer, type Request } from '../net/request.ts';

type Waiting = Pick<Request<typeof JoinAnswer>, 'place' | 'onPlace' | 'finalCode' | 'traceparent'>;

export interface AdmissionRequest
  extends Pick<CallOptions, 'api' | 'room' | 'name' | 'device' | 'ownerKey'>, Waiting {
  /** How long to retry if the service answers "later" or does not answer. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export function admit(asked: AdmissionRequest, ports: Ports): Promise<Answer<JoinAnswer>> {
  const { api, room, name, device, ...how } = asked;
  const body: JoinRequest = { name, ...(device === undefined ? {} : { device }) };
  const url = `${api}/v1/rooms/${encodeURIComponent(room)}/join`;
  return request({ ...how, method: 'POST', url, body, answer: JoinAnswer }, ports);
}
