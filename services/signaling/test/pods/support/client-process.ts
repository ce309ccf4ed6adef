/** A client in a process of its own, so that a test can stop it: `node client-process.ts URL ROOM NAME`. */
import { Client } from '../../support/client.ts';

const [url = '', room = '', name = ''] = process.argv.slice(2);
const { welcome } = await Client.enter(url, room, name);
process.stdout.write(`${JSON.stringify({ participant: welcome.participant, resume: welcome.resume })}\n`);
