/** Validators without generated code, for browsers: their content security policy forbids it, and this one is a third of the size. */
import type { TSchema } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import type { Checker } from './validator-compiled.ts';

export function createChecker(schema: TSchema): Checker {
  return {
    isValid: (value) => Check(schema, value),
    firstError: (value) => Errors(schema, value)[1][0],
  };
}
