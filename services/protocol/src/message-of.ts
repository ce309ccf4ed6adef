/** The type of the messages of a table of schemas. */
import type { Static, TSchema } from 'typebox';

export type MessageOf<Table extends Readonly<Record<string, TSchema>>> = {
  [Name in keyof Table]: Static<Table[Name]>;
}[keyof Table];
