import { grouped } from '../../streams/amounts.ts';

/** Describes what was disabled in a displayed page. */
export function switchedOff({
  links,
  pictures,
}: {
  readonly links: number;
  readonly pictures: number;
}): string {
  const counted = (count: number, noun: string): string[] =>
    count === 0 ? [] : [`${grouped(count)} ${noun}${count === 1 ? '' : 's'}`];
  const more = [...counted(links, 'link'), ...counted(pictures, 'image')];
  return `Disabled here: ${['scripts', ...more].join(', ')}.`;
}
