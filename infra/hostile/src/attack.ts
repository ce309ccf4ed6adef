import type { Arena } from './arena.ts';

/** One way to harm the platform, and what has to come of it. */
export interface Attack {
  /** Unique; the threat model names it. */
  readonly name: string;
  /** The rules of the specifications that it tries. */
  readonly rules: readonly string[];
  /** It runs alone: other attacks would spend the budget that it tests, or be disturbed by it. */
  readonly alone?: boolean;
  /** Only in the long form. */
  readonly long?: boolean;
  /** Throws where a defence does not hold; returns a few words on what was answered. */
  readonly run: (arena: Arena) => Promise<string>;
}

/** Tries all cases of a table at once; throws the messages of all failed cases. Returns the number of cases. */
export async function each<Case>(
  cases: readonly Case[],
  title: (one: Case) => string,
  attempt: (one: Case) => Promise<void>,
): Promise<string> {
  return outcome(await Promise.all(cases.map((one) => wrongIn(one, title, attempt))));
}

/** The same for cases that would disturb each other. */
export async function eachInTurn<Case>(
  cases: readonly Case[],
  title: (one: Case) => string,
  attempt: (one: Case) => Promise<void>,
): Promise<string> {
  const wrong: (string | undefined)[] = [];
  for (const one of cases) wrong.push(await wrongIn(one, title, attempt));
  return outcome(wrong);
}

async function wrongIn<Case>(
  one: Case,
  title: (one: Case) => string,
  attempt: (one: Case) => Promise<void>,
): Promise<string | undefined> {
  try {
    await attempt(one);
    return undefined;
  } catch (error) {
    return `${title(one)}: ${error instanceof Error ? error.message.split('\n').join(' ') : String(error)}`;
  }
}

function outcome(answers: readonly (string | undefined)[]): string {
  const wrong = answers.filter((answer) => answer !== undefined);
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${answers.length}: ${wrong.join('; ')}`);
  return `${answers.length} refused`;
}

/** Throws unless the answer is one of the expected. */
export function expectOneOf(answer: unknown, expected: readonly unknown[]): void {
  if (!expected.includes(answer))
    throw new Error(`answered ${String(answer)}, not ${expected.map(String).join(' or ')}`);
}
