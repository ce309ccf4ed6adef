/** The tables of the contract in Rust: codes, limits, subjects, routes and the audiences of tokens. */
import { ROUTES } from '../src/routes.ts';
import { LIMITS, limitKey, limitNames } from '../src/limits.ts';
import { PAGES_SOCKET } from '../src/pages.ts';
import { RELAY_CODES, SESSION_CLOSES } from '../src/relay-codes.ts';
import * as tokens from '../src/tokens.ts';
import { HEADER, grouped, pascal, screaming, snake } from './rust-names.ts';
import { DESCRIBED_CODES } from './described-codes.ts';

/** The files of the tables, by name. `subjects`: by the name of their export. */
export const tableFiles = (subjects: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map([
    ['codes.rs', `${HEADER}\n${codeTable(DESCRIBED_CODES)}`],
    ['relay_codes.rs', `${HEADER}\n${codeTable(RELAY_CODES)}\n${sessionCloses()}`],
    ['limits.rs', limits()],
    ['subjects.rs', templates(subjects)],
    ['routes.rs', routes()],
    ['audiences.rs', audiences()],
  ]);

interface Entry {
  readonly http: number | null;
  readonly close: number | null;
  readonly retry: boolean;
  readonly reconnect?: true;
  readonly meaning: string;
}

type Row = readonly [name: string, entry: Entry];

/** The type of a column: a number if every code has one, else an option. */
const columnType = (rows: readonly Row[], column: 'http' | 'close'): string =>
  rows.every(([, entry]) => entry[column] !== null) ? 'u16' : 'Option<u16>';

/** A function that returns a value for each code. */
function columnOf(rows: readonly Row[], signature: string, value: (row: Row) => string): string {
  const arms = rows.map((row) => `            Code::${pascal(row[0])} => ${value(row)},\n`);
  return `    pub const fn ${signature} {\n        match self {\n${arms.join('')}        }\n    }\n`;
}

function numbers(rows: readonly Row[], column: 'http' | 'close'): string {
  const type = columnType(rows, column);
  const value = (number: number | null): string => (number === null ? 'None' : `Some(${number})`);
  return columnOf(rows, `${column}(self) -> ${type}`, ([, entry]) =>
    type === 'u16' ? String(entry[column]) : value(entry[column]),
  );
}

/** A function that returns true for some codes. */
function property(rows: readonly Row[], name: string, holds: (entry: Entry) => boolean): string {
  const codes = rows.filter(([, entry]) => holds(entry)).map(([code]) => `Code::${pascal(code)}`);
  return `    pub const fn ${name}(self) -> bool {\n        matches!(self, ${codes.join(' | ')})\n    }\n`;
}

function codeTable(table: Readonly<Record<string, Entry>>): string {
  const rows = Object.entries(table);
  const close = columnType(rows, 'close') === 'u16' ? 'close' : 'Some(close)';
  const parts = [
    `    /// All codes.\n    pub const ALL: [Code; ${rows.length}] = [\n${rows.map(([name]) => `        Code::${pascal(name)},\n`).join('')}    ];\n`,
    `    /// The code with this name; \`None\` for an unknown name, such as one of a newer service.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
`,
    `    /// The first code that closes a WebSocket with this number.
    pub fn of_close(close: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.close() == ${close})
    }
`,
    `    /// The name on the wire and in metrics.\n${columnOf(rows, "name(self) -> &'static str", ([name]) => `"${name}"`)}`,
    `    /// The HTTP status of a refusal.\n${numbers(rows, 'http')}`,
    `    /// The WebSocket close code${close === 'close' ? '' : ', if the code closes the socket'}.\n${numbers(rows, 'close')}`,
    `    /// Whether the same request may succeed later.\n${property(rows, 'retry', ({ retry }) => retry)}`,
  ];
  if (rows.some(([, { reconnect }]) => reconnect))
    parts.push(
      `    /// Whether a client whose socket was closed with this code reconnects by itself.\n${property(rows, 'reconnect', ({ reconnect = false }) => reconnect)}`,
    );
  const variants = rows.map(([name, { meaning }]) => `    /// ${meaning}\n    ${pascal(name)},\n`);
  return `/// A stable code of a refusal or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
${variants.join('')}}

impl Code {
${parts.join('\n')}}
`;
}

function sessionCloses(): string {
  const rows = Object.entries(SESSION_CLOSES);
  return `/// The codes that close a media session: their number in \`CONNECTION_CLOSE\`, above 64 (MED-13).
pub mod session {
${rows.map(([name, number]) => `    /// ${name}\n    pub const ${name}: u16 = ${number};\n`).join('')}
    /// Names and numbers.
    pub const ALL: [(&str, u16); ${rows.length}] = [
${rows.map(([name]) => `        ("${name}", ${name}),\n`).join('')}    ];
}
`;
}

function limits(): string {
  const rows = limitNames().map((name) => {
    const { value, min, max, unit, code, rationale } = LIMITS[name];
    const refusal = code === null ? 'None' : `Some(Code::${pascal(code)})`;
    const numbers = [value, min, max].map(grouped).join(', ');
    const row = `"${name}", "${limitKey(name)}", [${numbers}], "${unit}", ${refusal}`;
    return `/// ${sentence(rationale)}.\npub const ${screaming(name)}: Limit = Limit::new(${row});\n`;
  });
  return `${HEADER}//!
//! The limits of signaling: defaults, and the range that an operator may set. Messages carry the values in force.
use super::codes::Code;

/// One limit.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The name in settings: \`message.bytes\`.
    pub name: &'static str,
    /// The key in a pod's environment.
    pub key: &'static str,
    /// The default.
    pub value: u64,
    /// The lowest value that an operator may set.
    pub min: u64,
    /// The highest value that an operator may set.
    pub max: u64,
    /// The unit of the values.
    pub unit: &'static str,
    /// The code that a caller over the limit gets; \`None\` if no caller is refused.
    pub code: Option<Code>,
}

impl Limit {
    const fn new(
        name: &'static str,
        key: &'static str,
        [value, min, max]: [u64; 3],
        unit: &'static str,
        code: Option<Code>,
    ) -> Self {
        Self { name, key, value, min, max, unit, code }
    }
}

${rows.join('')}`;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Subjects and buckets: a constant, or a function of the parameters in braces. */
function templates(subjects: Readonly<Record<string, string>>): string {
  const rows = Object.entries(subjects).map(([name, subject]) => template(name, subject));
  return `${HEADER}//!\n//! NATS subjects and JetStream buckets (BUS-1 to BUS-3).\n\n${rows.join('\n')}`;
}

function template(name: string, text: string): string {
  const parameters = [...text.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => `${parameter}: &str`);
  if (parameters.length === 0) return `/// \`${text}\`\npub const ${screaming(name)}: &str = "${text}";\n`;
  return `/// \`${text}\`\npub fn ${snake(name)}(${parameters.join(', ')}) -> String {\n    format!("${text}")\n}\n`;
}

/** The paths of `/v1`, by the name of the operation. */
function routes(): string {
  const paths = Object.entries(ROUTES).map(([name, { path }]) =>
    template(name, path.replaceAll(/:(\w+)/g, '{$1}')),
  );
  return `${HEADER}//!\n//! The paths of the HTTP interface.\n\n${[...paths, template('pagesSocket', PAGES_SOCKET)].join('\n')}`;
}

/** The issuer and the audiences of signed tokens. */
function audiences(): string {
  const { ISSUER, TICKET_AUDIENCE, RESUME_AUDIENCE, MEDIA_AUDIENCE, STREAMS_AUDIENCE } = tokens;
  const rows = { ISSUER, TICKET_AUDIENCE, RESUME_AUDIENCE, MEDIA_AUDIENCE, STREAMS_AUDIENCE };
  const lines = Object.entries(rows).map(([name, value]) => template(name, value));
  return `${HEADER}//!\n//! Issuer and audiences of signed tokens (KEY-1 to KEY-4).\n\n${lines.join('\n')}`;
}
