/** The messages about a camera or microphone that does not work. */
import type { MediaProblem } from '../media/devices.ts';

export interface MediaProblemText {
  readonly title: string;
  readonly advice: string;
  /** Whether another attempt can succeed. */
  readonly again: boolean;
}

export type Subject = 'camera' | 'microphone' | 'both';

/** What the user can still do, for three places of a sentence. */
export interface Without {
  readonly yet: string;
  readonly or: string;
  readonly else: string;
}

const NAMES: Record<Subject, string> = {
  camera: 'camera',
  microphone: 'microphone',
  both: 'camera and microphone',
};
const JOIN: Without = {
  yet: 'You can still join without.',
  or: 'join without. People will still see your name and read your chat.',
  else: 'join to listen and chat.',
};
const IT: Record<Subject, string> = { camera: 'it', microphone: 'it', both: 'them' };

export function mediaProblemText(
  problem: MediaProblem,
  subject: Subject,
  without: Without = JOIN,
): MediaProblemText {
  const name = NAMES[subject];
  const it = IT[subject];
  switch (problem) {
    case 'refused':
      return {
        title: `Your browser blocks the ${name}`,
        advice: `Allow ${it} with the icon beside the address, then try again. On a Mac or phone, also check the system’s privacy settings. ${without.yet}`,
        again: true,
      };
    case 'missing':
      return {
        title: `No ${name} found`,
        advice: `Plug one in and try again, or ${without.or}`,
        again: true,
      };
    case 'busy':
      return {
        title: `Another program uses the ${name}`,
        advice: `Close other calls or camera programs, then try again. ${without.yet}`,
        again: true,
      };
    case 'lost':
      return {
        title: `The ${name} was disconnected`,
        advice: `Plug it back in or choose another one.`,
        again: true,
      };
    case 'insecure':
      return {
        title: `This page is not secure`,
        advice: `Browsers only allow the ${name} on pages that start with https. Open the secure address, or ${without.else}`,
        again: false,
      };
    case 'unsupported':
      return {
        title: `This browser cannot use the ${name}`,
        advice: `Use a recent Chrome, Edge, Firefox or Safari, or ${without.else}`,
        again: false,
      };
    case 'failed':
      return {
        title: `The ${name} did not start`,
        advice: `Try again, or choose another device. ${without.yet}`,
        again: true,
      };
    default:
      return problem satisfies never;
  }
}
