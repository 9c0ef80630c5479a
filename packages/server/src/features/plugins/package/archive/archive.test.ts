import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../../problem.ts'
import { type ArchiveFile, makeTar, makeTgz, makeZip } from '../../../../testing/archive-builder.ts'
import { readArchive } from './archive.ts'
import { archiveLimits } from './archive-entry.ts'

const formats = [
  ['tgz', makeTgz],
  ['zip', makeZip],
] as const

async function unpack(bytes: Buffer, limits = archiveLimits): Promise<Record<string, string>> {
  const entries = await readArchive(bytes, limits)
  return Object.fromEntries(entries.map(entry => [entry.path, Buffer.from(entry.bytes).toString()]))
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    reason => reason,
  )
  if (error instanceof Problem) return error.message
  throw error
}

describe.each(formats)('%s', (_name, make) => {
  test('gives files with their paths', async () => {
    const entries: ArchiveFile[] = [
      { path: 'package/', type: '5' },
      { path: 'package/plugin.json', content: '{}' },
      { path: './package/lib/é.js', content: 'ü'.repeat(1_000) },
      { path: 'package/empty.txt' },
    ]
    expect(await unpack(make(entries))).toEqual({
      'package/plugin.json': '{}',
      'package/lib/é.js': 'ü'.repeat(1_000),
      'package/empty.txt': '',
    })
  })

  test.each(['../evil.js', 'package/../../evil.js', '/etc/passwd', 'a\\..\\b.js', 'C:/evil.js', '..', 'a/\u0001.js'])(
    'refuses the path %j',
    async path => {
      expect(await faultOf(unpack(make([{ path, content: 'x' }])))).toContain('leads outside')
    },
  )

  test('refuses more files than are allowed', async () => {
    const entries = Array.from({ length: 4 }, (_, i) => ({ path: `${i}.js`, content: 'x' }))
    expect(await faultOf(unpack(make(entries), { ...archiveLimits, filesMax: 3 }))).toContain('more than 3 files')
  })

  test('refuses more bytes than are allowed, over all files', async () => {
    const limits = { ...archiveLimits, unpackedBytesMax: 100, filesMax: 10 }
    const entries = Array.from({ length: 3 }, (_, i) => ({ path: `${i}.js`, content: 'x'.repeat(40) }))
    expect(await faultOf(unpack(make(entries), limits))).toContain('larger than 100 bytes')
  })

  test('refuses a bomb without unpacking it', async () => {
    const bomb = make([{ path: 'zeros', content: Buffer.alloc(60 * 1024 * 1024) }])
    expect(bomb.length).toBeLessThan(100_000)
    expect(await faultOf(unpack(bomb))).toContain('larger than')
  })

  test('refuses an archive that is cut off or damaged', async () => {
    const whole = make([{ path: 'a.js', content: 'x'.repeat(5_000) }])
    expect(await faultOf(unpack(whole.subarray(0, whole.length - 40)))).toMatch(/damaged|ends/)
    const damaged = Buffer.from(whole)
    damaged[20] = damaged[20]! ^ 0xff
    damaged[40] = damaged[40]! ^ 0xff
    expect(await faultOf(unpack(damaged))).toMatch(/damaged|ends|unknown/)
  })
})

test('refuses what is no archive', async () => {
  expect(await faultOf(readArchive(Buffer.from('<html>')))).toContain('neither')
  expect(await faultOf(readArchive(Buffer.alloc(0)))).toContain('neither')
})

describe('tar', () => {
  test.each([
    ['1', 'link'],
    ['2', 'link'],
    ['3', 'unknown kind'],
    ['6', 'unknown kind'],
  ])('refuses an entry of type %s', async (type, reason) => {
    expect(await faultOf(unpack(makeTgz([{ path: 'a', type, linkTarget: '/etc/passwd' }])))).toContain(reason)
  })

  test('refuses a size that the archive does not hold', async () => {
    const tar = makeTgz([{ path: 'a', content: 'x', statedBytes: 9_999_999 }])
    expect(await faultOf(unpack(tar))).toContain('ends in the middle')
  })

  test('refuses a size that is no number', async () => {
    const tar = makeTar([{ path: 'a', content: 'x' }])
    tar.write('-0000000001', 124)
    expect(await faultOf(unpack(gzipSync(tar)))).toMatch(/damaged/)
  })

  test('refuses an escape that hides in a long name', async () => {
    const gnu = makeTgz([
      { path: 'x', type: 'L', content: '../evil.js\0' },
      { path: 'safe.js', content: 'x' },
    ])
    expect(await faultOf(unpack(gnu))).toContain('leads outside')
    const pax = makeTgz([
      { path: 'x', type: 'x', content: '19 path=../evil.js\n' },
      { path: 'safe.js', content: 'x' },
    ])
    expect(await faultOf(unpack(pax))).toContain('leads outside')
  })

  const longPath = `${'d'.repeat(60)}/${'e'.repeat(60)}/${'f'.repeat(60)}.js`
  const [folder, name] = [longPath.slice(0, 121), longPath.slice(122)]
  const paxRecord = `${longPath.length + 10} path=${longPath}\n`
  const longNames: [string, ArchiveFile[]][] = [
    ['ustar', [{ path: name, pathPrefix: folder, content: 'long' }]],
    [
      'GNU',
      [
        { path: 'x', type: 'L', content: `${longPath}\0` },
        { path: 'cut', content: 'long' },
      ],
    ],
    [
      'pax',
      [
        { path: 'x', type: 'x', content: paxRecord },
        { path: 'cut', content: 'long' },
      ],
    ],
  ]
  test.each(longNames)('reads long names as %s has them', async (_format, entries) => {
    const after = { path: 'short.js', content: 'short' }
    expect(await unpack(makeTgz([...entries, after]))).toEqual({ [longPath]: 'long', 'short.js': 'short' })
  })
})

describe('zip', () => {
  test('refuses a link', async () => {
    const zip = makeZip([{ path: 'a', content: '/etc/passwd', unixMode: 0o120777 }])
    expect(await faultOf(unpack(zip))).toContain('has a link')
  })

  test('refuses a file that unpacks to more than it states', async () => {
    const zip = makeZip([{ path: 'a', content: 'x'.repeat(1_000_000), statedBytes: 10 }])
    expect(await faultOf(unpack(zip))).toBe('The archive is damaged.')
  })
})
