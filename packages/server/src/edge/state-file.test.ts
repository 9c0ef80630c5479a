import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { stateFile } from './state-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'halyard-state-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('a state that is written while or after the upstream refuses this edge does not count as current', async () => {
  const file = stateFile(folder)
  await file.write([])
  expect(await file.contactAt()).toBeGreaterThan(0)
  await Promise.all([file.write([]), file.setContactAt(0)])
  expect(await file.contactAt()).toBe(0)
  await file.write([])
  expect(await file.contactAt()).toBe(0)
  await file.setContactAt(Date.now())
  await file.write([])
  expect(await file.contactAt()).toBeGreaterThan(0)
})
