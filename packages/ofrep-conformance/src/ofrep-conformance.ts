#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { type CheckResult, checkConformance, isConformant } from './index.ts'

const usage = `Usage: ofrep-conformance <url> [options]

Checks a server against the OpenFeature Remote Evaluation Protocol 0.3.

  --header "Name: value"  a header of each request; can be repeated
  --context <json>        the evaluation context (default: a targeting key)
  --flag <key>            an existing flag (default: the first one)
  --json                  print the results as JSON

The exit code is 1 when a requirement is not met, and 2 when the command line is wrong.
`

const marks: Readonly<Record<CheckResult['outcome'], string>> = { passed: '✓', failed: '✗', 'not applicable': '–' }

function fail(message: string): never {
  process.stderr.write(`ofrep-conformance: ${message}\n\n${usage}`)
  process.exit(2)
}

function headersOf(headers: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    headers.map(header => {
      const colon = header.indexOf(':')
      if (colon <= 0) fail(`"${header}" is not a header.`)
      return [header.slice(0, colon).trim().toLowerCase(), header.slice(colon + 1).trim()]
    }),
  )
}

function contextOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return fail('The context is not JSON.')
  }
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        header: { type: 'string', multiple: true, default: [] },
        context: { type: 'string' },
        flag: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return fail((error as Error).message)
  }
}

const { values, positionals } = readArguments()
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const [url] = positionals
if (url === undefined || positionals.length > 1 || !URL.canParse(url)) fail('Name the address of one server.')
const results = await checkConformance({
  url,
  headers: headersOf(values.header),
  ...(values.context !== undefined && { context: contextOf(values.context) }),
  ...(values.flag !== undefined && { flagKey: values.flag }),
})
if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
else {
  for (const { outcome, level, title, source, detail } of results) {
    const why = detail === undefined ? '' : `: ${detail}`
    process.stdout.write(
      `${marks[outcome]} ${level.padEnd(6)} ${title}${why}${outcome === 'failed' ? ` (${source})` : ''}\n`,
    )
  }
  const count = (outcome: CheckResult['outcome']) => results.filter(result => result.outcome === outcome).length
  const summary = [
    `${count('passed')} passed`,
    `${count('failed')} failed`,
    `${count('not applicable')} not applicable`,
  ]
  process.stdout.write(`\n${summary.join(', ')}\n`)
}
process.exitCode = isConformant(results) ? 0 : 1
