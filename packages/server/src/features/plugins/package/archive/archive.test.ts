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
  test('returns files with their paths', async () => {
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
    'rejects the path %j',
    async path => {
      expect(await faultOf(unpack(make([{ path, content: 'x' }])))).toContain('leads outside')
    },
  )

  test('rejects more files than the limit', async () => {
    const entries = Array.from({ length: 4 }, (_, i) => ({ path: `${i}.js`, content: 'x' }))
    expect(await faultOf(unpack(make(entries), { ...archiveLimits, filesMax: 3 }))).toContain('more than 3 files')
  })

  test('rejects more bytes than the limit, over all files', async () => {
    const limits = { ...archiveLimits, unpackedBytesMax: 100, filesMax: 10 }
    const entries = Array.from({ length: 3 }, (_, i) => ({ path: `${i}.js`, content: 'x'.repeat(40) }))
    expect(await faultOf(unpack(make(entries), limits))).toContain('larger than 100 bytes')
  })

  test('rejects a decompression bomb without unpacking it', async () => {
    const bomb = make([{ path: 'zeros', content: Buffer.alloc(60 * 1024 * 1024) }])
    expect(bomb.length).toBeLessThan(100_000)
    expect(await faultOf(unpack(bomb))).toContain('larger than')
  })

  test('rejects an archive that is cut off or damaged', async () => {
    const whole = make([{ path: 'a.js', content: 'x'.repeat(5_000) }])
    expect(await faultOf(unpack(whole.subarray(0, whole.length - 40)))).toMatch(/damaged|ends/)
    const damaged = Buffer.from(whole)
    damaged[20] = damaged[20]! ^ 0xff
    damaged[40] = damaged[40]! ^ 0xff
    expect(await faultOf(unpack(damaged))).toMatch(/damaged|ends|unknown/)
  })
})

test('rejects a file that is not an archive', async () => {
  expect(await faultOf(readArchive(Buffer.from('<html>')))).toContain('neither')
  expect(await faultOf(readArchive(Buffer.alloc(0)))).toContain('neither')
})

describe('tar', () => {
  test.each([
    ['1', 'link'],
    ['2', 'link'],
    ['3', 'unknown kind'],
    ['6', 'unknown kind'],
  ])('rejects an entry of type %s', async (type, reason) => {
    expect(await faultOf(unpack(makeTgz([{ path: 'a', type, linkTarget: '/etc/passwd' }])))).toContain(reason)
  })

  test('rejects a size larger than the archive', async () => {
    const tar = makeTgz([{ path: 'a', content: 'x', statedBytes: 9_999_999 }])
    expect(await faultOf(unpack(tar))).toContain('ends in the middle')
  })

  test('rejects a size that is not a number', async () => {
    const tar = makeTar([{ path: 'a', content: 'x' }])
    tar.write('-0000000001', 124)
    expect(await faultOf(unpack(gzipSync(tar)))).toMatch(/damaged/)
  })

  test('rejects an escape that hides in a long name', async () => {
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

  test('rejects an extended header of more than 64 KiB', async () => {
    const records = '4 =\n'.repeat(17_000)
    const pax = makeTgz([
      { path: 'x', type: 'x', content: records },
      { path: 'safe.js', content: 'x' },
    ])
    expect(await faultOf(unpack(pax))).toBe('The archive has an extended header larger than 65536 bytes.')
  })

  test.each(['x', 'g', 'L'])('bounds all extended headers of type %s together', async type => {
    const entry = { path: 'x', type, content: '4 =\n'.repeat(15_000) }
    const headers = Array.from({ length: 9 }, () => entry)
    expect(await faultOf(unpack(makeTgz(headers)))).toContain('more than 524288 bytes of extended headers')
  })

  test.each(['x', 'g', 'L', 'K', '5'])('counts empty headers of type %s as files', async type => {
    const headers = Array.from({ length: 2_001 }, () => ({ path: 'x', type }))
    expect(await faultOf(unpack(makeTgz(headers)))).toContain('more than 2000 files')
  })

  test('counts headers behind the end mark too', async () => {
    const [first, hidden] = [makeTar([{ path: 'a', content: 'x' }]), makeTar([{ path: 'b', type: 'g', content: 'x' }])]
    const tar = gzipSync(Buffer.concat([first, hidden]))
    expect(await faultOf(unpack(tar, { ...archiveLimits, filesMax: 1 }))).toContain('more than 1 files')
  })

  test('rejects a size that a pax header or base-256 digits replace', async () => {
    const pax = makeTgz([
      { path: 'x', type: 'x', content: '16 size=00000000\n' },
      { path: 'a', content: 'x' },
    ])
    expect(await faultOf(unpack(pax))).toContain('extended size')
    const binary = makeTar([{ path: 'a', content: 'x' }])
    binary[124] = 0x80
    expect(await faultOf(unpack(gzipSync(binary)))).toContain('not an octal number')
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
  test.each(longNames)('reads long names in %s format', async (_format, entries) => {
    const after = { path: 'short.js', content: 'short' }
    expect(await unpack(makeTgz([...entries, after]))).toEqual({ [longPath]: 'long', 'short.js': 'short' })
  })
})

describe('zip', () => {
  test('rejects a link', async () => {
    const zip = makeZip([{ path: 'a', content: '/etc/passwd', unixMode: 0o120777 }])
    expect(await faultOf(unpack(zip))).toContain('has a link')
  })

  test('rejects a file whose checksum is wrong', async () => {
    const zip = makeZip([{ path: 'a', content: 'x'.repeat(100) }])
    const central = zip.lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1'))
    zip.writeUInt32LE(1, central + 16)
    expect(await faultOf(unpack(zip))).toBe('The archive is damaged.')
  })

  test('rejects a file that is encrypted or compressed in another way', async () => {
    const make = (offset: number, value: number) => {
      const zip = makeZip([{ path: 'a', content: 'x' }])
      zip.writeUInt16LE(value, zip.lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1')) + offset)
      return zip
    }
    expect(await faultOf(unpack(make(8, 1)))).toContain('is encrypted: a')
    expect(await faultOf(unpack(make(10, 93)))).toContain('unsupported compression: a')
  })

  test('rejects a file that unpacks to more than it states', async () => {
    const zip = makeZip([{ path: 'a', content: 'x'.repeat(1_000_000), statedBytes: 10 }])
    expect(await faultOf(unpack(zip))).toBe('The archive is damaged.')
  })
})
