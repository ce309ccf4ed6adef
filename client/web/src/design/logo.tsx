/** Two speakers that face each other. */
export function Logo() {
  return (
    <span class="logo">
      <svg class="logo-mark" viewBox="0 0 32 32" aria-hidden="true">
        <path class="logo-one" d="M2 15A11 11 0 0 1 13 4h2v11A11 11 0 0 1 4 26H2z" />
        <path class="logo-two" d="M30 17a11 11 0 0 1-11 11h-2V17A11 11 0 0 1 28 6h2z" />
      </svg>
      <span class="logo-name">Parley</span>
    </span>
  );
}
