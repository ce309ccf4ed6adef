/** HTTP requests from an address of one's choice. */
import { request, type IncomingHttpHeaders } from 'node:http';
import type { JoinAnswer } from '@parley/protocol/http';

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The code in the body, where there is one. */
  readonly code: string | undefined;
}

export interface Question {
  readonly from: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string;
  readonly withinMs?: number;
}

const ANSWER_WITHIN_MS = 15_000;

export async function ask(base: string, path: string, question: Question): Promise<Asked> {
  const { from, json, withinMs = ANSWER_WITHIN_MS } = question;
  const body = json === undefined ? question.body : JSON.stringify(json);
  const { hostname, port } = new URL(base);
  const headers = {
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...question.headers,
  };
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        hostname,
        port,
        // As it is: a URL would be normalised here already.
        path,
        method: question.method ?? (body === undefined ? 'GET' : 'POST'),
        headers,
        localAddress: from,
        agent: false,
        signal: AbortSignal.timeout(withinMs),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: text,
            code: codeIn(text),
          });
        });
      },
    );
    asked.once('error', reject);
    asked.end(body);
  });
}

/** Joins; throws where it is refused. */
export async function joinFrom(
  base: string,
  room: string,
  question: Question & { readonly json?: object },
): Promise<JoinAnswer> {
  const answer = await ask(base, `/v1/rooms/${room}/join`, { json: {}, ...question, method: 'POST' });
  if (answer.status !== 200) throw new Error(`the join was refused: ${answer.status} ${answer.code}`);
  return JSON.parse(answer.body) as JoinAnswer;
}

function codeIn(text: string): string | undefined {
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
