/** A call in one file. The fragment of the address is the room: every tab that opens the address is a participant. */
import { adHocRoomId, browserPorts, joinCall, pageMedia } from '@parley/sdk';

const [videos, status] = [find('videos', HTMLElement), find('status', HTMLOutputElement)];
const [me, leave] = [find('me', HTMLVideoElement), find('leave', HTMLButtonElement)];
const elements = new Map<string, HTMLVideoElement>();

if (location.hash === '') location.hash = adHocRoomId(crypto.getRandomValues(new Uint8Array(16)));
find('link', HTMLAnchorElement).href = location.href;

const devices = navigator.mediaDevices.getUserMedia({ audio: true, video: true });
devices.catch((error: unknown) => (status.value = String(error)));
const local = await devices;
me.srcObject = local;
const [microphone = null, camera = null] = [local.getAudioTracks()[0], local.getVideoTracks()[0]];
const options = { api: location.origin, room: location.hash.slice(1), name: 'Guest', microphone, camera };
const call = joinCall(options, browserPorts(pageMedia));
call.subscribe(draw);
draw();
leave.addEventListener('click', () => call.leave());

function draw(): void {
  const { connection, people } = call.snapshot();
  const { status: now } = connection;
  status.value = now === 'ended' ? `The call ended: ${connection.reason}` : `Connection: ${now}`;
  leave.disabled = now === 'ended';
  for (const { participant, stream } of people) {
    const element = elements.get(participant) ?? videos.appendChild(document.createElement('video'));
    elements.set(participant, Object.assign(element, { autoplay: true, playsInline: true }));
    // Assigning the same stream again would restart the element.
    if (element.srcObject !== stream) element.srcObject = stream;
  }
  for (const [id, element] of elements) {
    if (people.some(({ participant }) => participant === id)) continue;
    element.remove();
    elements.delete(id);
  }
  if (now === 'ended') for (const track of local.getTracks()) track.stop();
}

function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${kind.name} #${id}`);
}
