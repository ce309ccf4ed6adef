/** The address of the socket, with the code for which a token is exchanged: the token stays in the part of the link that is never sent (STR-26). */
import { codeReason, type DisconnectReason } from './disconnect-reasons.ts';
import { streamPath } from './topic.ts';

/** The relay answers from memory: a network that takes longer cannot carry a stream either. */
const ANSWER_MS = 10_000;

const UNREACHABLE: DisconnectReason = {
  title: 'The stream server does not answer',
  body: 'Check your connection. The page keeps trying.',
  again: 'later',
};

export function socketUrl(topic: string, code: string | null): string {
  const url = new URL(streamPath(topic), location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (code !== null) url.searchParams.set('code', code);
  return url.href;
}

export const fragmentToken = (hash: string): string | null =>
  new URLSearchParams(hash.replace(/^#/, '')).get('token');

/** A code for one socket. */
export async function requestCode(
  topic: string,
  token: string,
): Promise<{ readonly code: string } | { readonly refused: DisconnectReason }> {
  try {
    const answer = await fetch(streamPath(topic).replace('/streams/', '/streams/v1/codes/'), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const body: unknown = await answer.json().catch(() => null);
    const code = body !== null && typeof body === 'object' && 'code' in body ? body.code : null;
    if (typeof code !== 'string') return { refused: answer.ok ? codeReason('') : UNREACHABLE };
    return answer.status === 201 ? { code } : { refused: codeReason(code) };
  } catch {
    return { refused: UNREACHABLE };
  }
}
