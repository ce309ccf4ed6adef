import { readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { keyFile } from '../certificates.ts';
import { apiServer, type Lab } from '../lab.ts';

// The API server ends every watch after some minutes; while it is unavailable, requests are repeated at this interval.
const againMs = 1000;

/** Asks the API server from within the lab's network. */
export class Api {
  readonly #options: RequestOptions;

  constructor(lab: Lab) {
    const read = (name: string) => readFileSync(keyFile(lab, name));
    this.#options = { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') };
  }

  async list<Item>(path: string): Promise<readonly Item[]> {
    let text = '';
    await this.#get(path, (part) => (text += part));
    return (JSON.parse(text) as { items: readonly Item[] }).items;
  }

  /** Calls back at once and after every change; never ends. */
  async follow(path: string, changed: () => void): Promise<never> {
    for (;;) {
      changed();
      await this.#get(`${path}?watch=1`, changed).catch(() => undefined);
      await delay(againMs);
    }
  }

  #get(path: string, onData: (part: string) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked = request(`${apiServer}${path}`, this.#options, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${path} answers ${response.statusCode}`));
        response.setEncoding('utf8').on('data', onData);
        response.once('close', resolve);
      });
      asked.once('error', reject);
      asked.end();
    });
  }
}
