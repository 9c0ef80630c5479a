import { ExplainedError } from '../problem.ts'

/** The arguments of a command are invalid; the message names the fix. Exit code 2. */
export class UsageError extends ExplainedError {}

/** The command was understood and failed, for a reason that the message explains. Exit code 1. */
export class CommandError extends ExplainedError {}

/** Documented in `halyard help` and docs/reference/command-line.md. */
export const exitCodes = { ok: 0, failure: 1, usage: 2, configuration: 78 } as const
