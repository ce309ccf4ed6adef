/** The illustration of the landing page: four participants in a call, drawn from simple shapes. */

interface Look {
  readonly id: string;
  readonly skin: string;
  readonly hair: string;
  readonly top: string;
  /** Outline of the hair around a head of radius 25 at (100, 72). */
  readonly cut: string;
  readonly speaking: boolean;
}

const LOOKS: readonly Look[] = [
  {
    id: 'one',
    skin: '#e9b48c',
    hair: '#3c2a21',
    top: '#f4efe4',
    cut: 'M72 78c-6-34 12-46 29-46s34 11 28 46c-3-14-9-22-17-27-9 6-26 6-33 4-4 6-6 13-7 23z',
    speaking: true,
  },
  {
    id: 'two',
    skin: '#8d5a3b',
    hair: '#1d1613',
    top: '#f0a83a',
    cut: 'M70 74c-8-30 8-44 30-44s38 14 30 44c-2-12-7-20-12-23-12 2-26 2-36 0-5 3-10 11-12 23z',
    speaking: false,
  },
  {
    id: 'three',
    skin: '#f2c9a6',
    hair: '#b4552a',
    top: '#25443b',
    cut: 'M66 104c2-20-4-72 34-72s32 52 34 72c-6 6-12 4-13 0 2-22 0-38-8-46-10 4-24 4-30 1-5 8-6 24-4 45-1 4-7 6-13 0z',
    speaking: false,
  },
  {
    id: 'four',
    skin: '#c98a5e',
    hair: '#6d6a66',
    top: '#f6d9cf',
    cut: 'M73 70c-5-22 8-36 27-36s32 12 27 36c-3-9-6-14-9-17-11-5-25-5-36 0-4 3-7 8-9 17z',
    speaking: false,
  },
];

export function LandingIllustration() {
  return (
    <div class="illustration" aria-hidden="true">
      {LOOKS.map((look) => (
        <div key={look.id} class={`illustration-tile ${look.id}${look.speaking ? ' speaking' : ''}`}>
          <svg viewBox="0 0 200 150" preserveAspectRatio="xMidYMax slice">
            <path fill={look.top} d="M42 152c2-32 24-46 58-46s56 14 58 46z" />
            <path fill={look.skin} d="M90 90h20v18a10 10 0 0 1-20 0z" />
            <circle fill={look.hair} cx="100" cy="65" r="28" />
            <circle fill={look.skin} cx="100" cy="72" r="26" />
            <path fill={look.hair} d={look.cut} />
            <path
              fill="none"
              stroke="#2b1c14"
              stroke-width="2.600"
              stroke-linecap="round"
              d="M91 72v2.500M109 72v2.500"
            />
            <path
              class="mouth"
              fill="none"
              stroke="#2b1c14"
              stroke-width="2.600"
              stroke-linecap="round"
              d="M93 84c4 4 10 4 14 0"
            />
          </svg>
        </div>
      ))}
    </div>
  );
}
