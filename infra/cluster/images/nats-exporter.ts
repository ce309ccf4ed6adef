/**
 * Stands in for prometheus-nats-exporter: what a NATS server says of itself, as metrics under the exporter's names. Takes its arguments as far as it
 * needs them: the port, and at the end the server's monitoring.
 */
import { createServer } from 'node:http';

const args = process.argv.slice(2);
const port = Number(args[args.indexOf('-port') + 1]);
const server = args.at(-1) ?? '';

interface Jsz {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly {
      readonly name: string;
      readonly cluster?: { readonly leader?: string };
      readonly state: { readonly messages: number };
    }[];
  }[];
}

/** While the server does not answer, its last figures are repeated. */
let last = '';

createServer((_, response) => {
  const answer = (): unknown => response.end(last);
  read().then((text) => {
    last = text;
    answer();
  }, answer);
}).listen(port);

async function read(): Promise<string> {
  const [varz, jsz] = await Promise.all([ask('varz'), ask('jsz?accounts=true&streams=true')]);
  const name = (varz as { server_name: string }).server_name;
  return [...numbersOf('gnatsd_varz', varz, name), ...streamsOf(jsz as Jsz, name), ''].join('\n');
}

async function ask(path: string): Promise<unknown> {
  const response = await fetch(`${server}/${path}`);
  if (!response.ok) throw new Error(`${path} answers ${response.status}`);
  return response.json();
}

/** All numbers, those of inner objects too. */
function numbersOf(prefix: string, value: unknown, serverId: string): string[] {
  if (typeof value === 'number') return [`${prefix}{server_id="${serverId}"} ${value}`];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  // Counts of requests are by path, which is no name.
  const named = Object.entries(value).filter(([key]) => /^\w+$/.test(key));
  return named.flatMap(([key, inner]) => numbersOf(`${prefix}_${key}`, inner, serverId));
}

function streamsOf({ account_details = [] }: Jsz, serverName: string): string[] {
  const streams = account_details.flatMap(({ stream_detail = [] }) => stream_detail);
  return streams.map(({ name, cluster: { leader = '' } = {}, state: { messages } }) => {
    const labels = { server_name: serverName, stream_name: name, stream_leader: leader };
    const all = Object.entries({ ...labels, is_stream_leader: String(leader === serverName) });
    const text = all.map(([label, value]) => `${label}="${value}"`).join();
    return `jetstream_stream_total_messages{${text}} ${messages}`;
  });
}
