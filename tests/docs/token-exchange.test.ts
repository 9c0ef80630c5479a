import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { startTokenIssuer } from '../../packages/server/src/testing/token-issuer.ts'
import { startProgram } from '../program/start-program.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/guide/token-exchange.md', import.meta.url)), 'utf8')

/** The script of the step in the section for GitHub Actions. */
function gitHubScript(): string {
  const [, yaml = ''] = /## GitHub Actions[\s\S]*?```yaml\n([\s\S]*?)```/.exec(page) ?? []
  const [, script = ''] = /run: \|\n([\s\S]*)/.exec(yaml) ?? []
  return script.replaceAll(/^ {6}/gm, '')
}

/** The relationship that the page creates, with another issuer. */
function relationship(issuer: string): object {
  const [, content = ''] = /trust_relationships\/\n(\{[\s\S]*?\n\})\n```/.exec(page) ?? []
  return { ...JSON.parse(content), issuer }
}

const jq = `#!/usr/bin/env node
const path = process.argv.at(-1).slice(1)
process.stdout.write(JSON.parse(require('node:fs').readFileSync(0, 'utf8'))[path] + '\\n')
`

it('exchanges the token of a job by the example for GitHub Actions, on the branch that is trusted', async () => {
  const issuer = await startTokenIssuer()
  const program = await startProgram('sqlite', { HALYARD_TRUSTED_ORIGINS: issuer.url })
  let ref = 'refs/heads/main'
  // What a runner of GitHub offers to a job with `id-token: write`.
  const runner = createServer(async (request, response) => {
    const aud = new URL(request.url ?? '/', 'http://runner').searchParams.get('audience') ?? ''
    const value = await issuer.sign({ aud, sub: `repo:acme/shop:ref:${ref}`, repository: 'acme/shop', ref })
    response.end(JSON.stringify(request.headers.authorization === 'Bearer runner' ? { value } : {}))
  })
  runner.listen(0, '127.0.0.1')
  await once(runner, 'listening')
  const folder = mkdtempSync(join(tmpdir(), 'halyard-token-'))
  writeFileSync(join(folder, 'jq'), jq)
  chmodSync(join(folder, 'jq'), 0o755)
  try {
    const trust = await program.post(`${program.organization}/trust_relationships/`, relationship(issuer.url))
    expect(trust.status, trust.text).toBe(201)
    const run = async (): Promise<{ code: number; output: string }> => {
      const script = gitHubScript().replaceAll('https://flags.acme.com/api/', `${program.url}/api/`)
      const child = spawn('bash', ['-eo', 'pipefail', '-c', script], {
        env: {
          ...process.env,
          PATH: [folder, process.env.PATH].join(delimiter),
          ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(runner.address() as AddressInfo).port}/?api-version=2.0`,
          ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner',
          TRUST_RELATIONSHIP: trust.body.id,
        },
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      let output = ''
      child.stdout.on('data', chunk => {
        output += chunk
      })
      const [code] = await once(child, 'close')
      return { code, output }
    }
    const trusted = await run()
    const [, key] = /^::add-mask::(\S+)$/m.exec(trusted.output) ?? []
    expect(trusted.code).toBe(0)
    const flag = await program.as(key).post(`${program.project}/feature_flags/`, { key: 'by-a-job' })
    expect(flag.status, flag.text).toBe(201)
    ref = 'refs/heads/feature'
    expect((await run()).code).not.toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
    runner.close()
    await program.close()
    await issuer.close()
  }
})
