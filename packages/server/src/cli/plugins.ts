import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sampleInput } from '../features/plugins/runtime/sample-input.ts'
import { type Trial, type TrialInput, tryPlugin } from '../features/plugins/runtime/try-plugin.ts'
import { createWorkerSandbox } from '../sandbox/worker-sandbox.ts'
import { printJson } from './output.ts'
import { exitCodes, UsageError } from './usage.ts'

/** `halyard plugins test <folder>`: exit code 1 when a call failed. */
export async function testPlugin(
  folder: string,
  options: { readonly input?: string; readonly json?: boolean },
): Promise<void> {
  const sandbox = createWorkerSandbox({ workersMax: 1 })
  try {
    const trial = await tryPlugin(sandbox, folder, { ...sampleInput, ...readInput(folder, options.input) })
    if (options.json) printJson({ ...trial, seen: { ...trial.seen, stored: Object.fromEntries(trial.seen.stored) } })
    else for (const line of report(trial)) console.log(line)
    if (trial.calls.some(call => 'error' in call.outcome && call.method !== 'beforeFlagSave'))
      process.exitCode = exitCodes.failure
  } finally {
    await sandbox.close()
  }
}

function readInput(folder: string, named: string | undefined): Partial<TrialInput> {
  const path = named ?? join(folder, 'sample-input.json')
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Partial<TrialInput>
  } catch (error) {
    if (named === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

function* report({ name, capabilities, calls, seen }: Trial): Generator<string> {
  yield name
  for (const [kind, names] of Object.entries(capabilities)) yield `  ${kind}: ${names.join(', ') || 'none'}`
  for (const { method, input, outcome } of calls) {
    yield ''
    yield `${method} ${shorten(input)}`
    yield 'error' in outcome ? `  failed: ${outcome.error}` : `  → ${shorten(outcome.value)}`
  }
  if (seen.lines.length > 0) yield '\nlog'
  for (const { level, text } of seen.lines) yield `  ${level}: ${text}`
  if (seen.captured.length > 0) yield '\ncaptured'
  for (const { event, properties } of seen.captured) yield `  ${event} ${shorten(properties)}`
  if (seen.fetched.length > 0) yield '\nrequests (not sent)'
  for (const { url, options } of seen.fetched) yield `  ${options.method} ${url} ${shorten(options.body)}`
  if (seen.stored.size > 0) yield '\nstorage'
  for (const [key, value] of seen.stored) yield `  ${key}: ${shorten(value)}`
}

const lineCharactersMax = 300

function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  return text.length > lineCharactersMax ? `${text.slice(0, lineCharactersMax)}…` : text
}
