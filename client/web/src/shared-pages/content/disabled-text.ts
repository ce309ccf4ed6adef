import { formatCount } from '../../streams/format.ts';

/** Describes what was disabled in a displayed page. */
export function disabledText({ links, images }: { readonly links: number; readonly images: number }): string {
  const counted = (count: number, noun: string): string[] =>
    count === 0 ? [] : [`${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`];
  const more = [...counted(links, 'link'), ...counted(images, 'image')];
  return `Disabled here: ${['scripts', ...more].join(', ')}.`;
}
