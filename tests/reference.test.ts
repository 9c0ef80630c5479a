import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { settings } from '../packages/server/src/config.ts'
import { problemTable } from '../packages/server/src/http/server/problem-response.ts'
import { telemetryVariables } from '../packages/server/src/observability/telemetry/open-telemetry.ts'
import { version } from '../packages/server/src/version.ts'

/** docs/reference/ is made from the code: `npm run docs` writes it, and here it is held equal. */

const reference = (name: string) => join(import.meta.dirname, '../docs/reference', name)

describe('docs/reference', () => {
  it('settings.md', async () => {
    const shown = (fallback: string | undefined) => (fallback ? `\`${fallback}\`` : 'unset')
    const rows = Object.values(settings).map(
      ({ variable, fallback, describes, isSecret }) =>
        `| \`${variable}\`${isSecret ? ' *' : ''} | ${shown(fallback)} | ${describes} |`,
    )
    const telemetryRows = telemetryVariables.map(
      ({ variable, fallback, describes }) => `| \`${variable}\` | ${shown(fallback)} | ${describes} |`,
    )
    const text = `# Settings

Settings are environment variables, validated once at start. A wrong value ends the start with exit code 78 and a
message that names the variable. A variable that looks like a misspelt setting is reported with a suggestion.

Settings marked * are secrets. Each can be read from a file instead: set the variable with \`_FILE\` appended to the
path, for example \`HALYARD_SECRET_KEY_FILE=/run/secrets/halyard\`. \`PGPASSWORD_FILE\` works as well.

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}

## OpenTelemetry

Traces, metrics and logs are exported by OTLP when an endpoint is set; see [Monitoring](../operate/monitoring.md).
Further standard variables of the OTLP exporters work as well, such as \`OTEL_EXPORTER_OTLP_TIMEOUT\`,
\`OTEL_EXPORTER_OTLP_COMPRESSION\` and \`OTEL_EXPORTER_OTLP_CERTIFICATE\`.

| variable | default | meaning |
|---|---|---|
${telemetryRows.join('\n')}
`
    await expect(text).toMatchFileSnapshot(reference('settings.md'))
  })

  it('errors.md', async () => {
    const rows = Object.values(problemTable).map(
      ({ status, type, code }) => `| ${status} | \`${type}\` | \`${code}\` |`,
    )
    const text = `# Errors

Every error is JSON: \`{"type", "code", "detail", "attr"}\`. \`code\` is for programs, \`detail\` is a sentence for people,
and \`attr\` names the field at fault or is null. Only the first error is reported. Every response carries
\`X-Request-Id\`; search for it in the log.

| status | type | code |
|---|---|---|
${rows.join('\n')}
| 500 | \`server_error\` | \`error\` |

A 400 about a field has a code of its own, such as \`required\`, \`null\`, \`blank\`, \`max_length\`, \`invalid_input\`,
\`invalid_choice\`, \`not_a_dict\`, \`not_a_list\`, \`does_not_exist\` or \`unique\`.

429 and 503 carry \`Retry-After\`, 405 \`Allow\`, and 401 \`WWW-Authenticate: Bearer\`. \`DELETE\` on a flag returns 405
without a body.
`
    await expect(text).toMatchFileSnapshot(reference('errors.md'))
  })

  it('one version number', () => {
    const root = join(import.meta.dirname, '..')
    for (const file of [
      'package.json',
      ...['engine', 'contract', 'server', 'web'].map(name => `packages/${name}/package.json`),
    ]) {
      expect(JSON.parse(readFileSync(join(root, file), 'utf8')).version, file).toBe(version)
    }
  })

  it('the lock file serves every platform and names no host', () => {
    const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8'))
    const entries = Object.entries<{ resolved?: string; optionalDependencies?: Record<string, string> }>(lock.packages)
    expect(entries.filter(([, entry]) => entry.resolved?.startsWith('http'))).toEqual([])
    const absent = entries.flatMap(([folder, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).filter(
        name => !lock.packages[`node_modules/${name}`] && !lock.packages[`${folder}/node_modules/${name}`],
      ),
    )
    expect(absent).toEqual([])
  })
})
