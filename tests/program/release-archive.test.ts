import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { root } from '../faults/server-process.ts'
import { useProgram } from './use-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'halyard-release-'))
let unpacked: string
beforeAll(() => {
  const script = join(root, 'scripts/package.mjs')
  const archive = execFileSync(process.execPath, [script, '--built', '--out', folder], { encoding: 'utf8' }).trim()
  execFileSync('tar', ['-xzf', archive], { cwd: folder })
  unpacked = join(folder, basename(archive, '.tar.gz'))
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('the launcher starts the program', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(execFileSync(join(unpacked, 'halyard'), ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`)
})

onEachDatabase('the unpacked release archive', dialect => {
  it(
    'evaluates, installs, imports, approves, serves its pages and stops',
    () => useProgram(dialect, join(unpacked, 'dist/halyard.js')),
    120_000,
  )
})
