import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLocalFolder } from './local-folder.ts'

let directory: string
let outside: string

beforeAll(() => {
  outside = mkdtempSync(join(tmpdir(), 'outside-'))
  directory = join(outside, 'plugins')
  mkdirSync(join(directory, 'mine', 'lib'), { recursive: true })
  mkdirSync(join(directory, 'mine', 'node_modules'))
  writeFileSync(join(outside, 'secret.txt'), 'secret')
  writeFileSync(join(directory, 'mine', 'plugin.json'), '{}')
  writeFileSync(join(directory, 'mine', 'lib', 'a.js'), 'a')
  writeFileSync(join(directory, 'mine', 'node_modules', 'b.js'), 'b')
  symlinkSync(join(outside, 'secret.txt'), join(directory, 'mine', 'link.txt'))
  symlinkSync(outside, join(directory, 'out'))
})
afterAll(() => rmSync(outside, { recursive: true }))

test('a folder is read without what is not its own', async () => {
  const entries = await readLocalFolder(directory, 'mine')
  expect(entries.map(entry => entry.path)).toEqual(['lib/a.js', 'plugin.json'])
})

test.each(['', '.', '..', '../plugins', 'gone', 'out', 'mine/../..', '/etc', 'mine\u0000'])(
  '%j is no plugin folder',
  async name => {
    await expect(readLocalFolder(directory, name)).rejects.toThrow('There is no folder')
  },
)

test('there may be no directory at all', async () => {
  await expect(readLocalFolder(join(outside, 'none'), 'mine')).rejects.toThrow('There is no folder')
})
