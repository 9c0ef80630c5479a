import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGuardedClient } from '../../../../outgoing/guarded-client.ts'
import type { Outgoing } from '../../../../outgoing/outgoing.ts'
import { Problem } from '../../../../problem.ts'
import { makeTgz, makeZip } from '../../../../testing/archive-builder.ts'
import {
  archiveEntries,
  packFiles,
  type RegistryServer,
  startRegistryServer,
} from '../../../../testing/registry-server.ts'
import { parseAddress } from '../plugin-address.ts'
import { fetchPackage, findLatestTag, type Origins, type RemoteAddress } from './fetch-package.ts'
import { createGitHubOrigin } from './github-origin.ts'
import { createGitLabOrigin } from './gitlab-origin.ts'
import { createNpmOrigin } from './npm-origin.ts'
import { readNpmSettings } from './npm-settings.ts'
import { originLimits } from './origin.ts'

let registry: RegistryServer
let elsewhere: RegistryServer
let outgoing: Outgoing
let origins: Origins

beforeAll(async () => {
  registry = await startRegistryServer()
  elsewhere = await startRegistryServer()
  outgoing = createGuardedClient({ trustedOrigins: [registry.url] })
  const limits = { ...originLimits, timeoutMsMax: 3000, archiveBytesMax: 100_000 }
  const settings = readNpmSettings({ HALYARD_NPM_REGISTRY: registry.url }, '/nowhere')
  origins = {
    npm: createNpmOrigin(outgoing, settings, limits),
    github: createGitHubOrigin(outgoing, { api: registry.url, limits, token: 'ours' }),
    gitlab: createGitLabOrigin(outgoing, { api: registry.url, limits }),
  }
})
beforeEach(() => {
  registry.requests.length = 0
  elsewhere.requests.length = 0
})
afterAll(() => Promise.all([registry.close(), elsewhere.close(), outgoing.close()]))

const npmAddress = { host: 'npm', name: '@a/plugin', version: undefined } as const
const fetchTag = (address: RemoteAddress, tag: string, token?: string) =>
  fetchPackage(origins, address, tag, token, new Set())
const plugin = (name: string) => ({ 'plugin.json': { name }, 'index.js': `exports.name = '${name}'` })

async function faultOf(work: Promise<unknown>): Promise<[string | undefined, string]> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    reason => reason,
  )
  if (error instanceof Problem) return [error.code, error.message]
  throw error
}

describe('npm', () => {
  test('finds the latest version and fetches any', async () => {
    registry.publish('@a/plugin', '1.0.0', plugin('one'))
    registry.publish('@a/plugin', '2.0.0', plugin('two'))
    expect(await findLatestTag(origins, npmAddress, undefined)).toBe('2.0.0')
    expect(await fetchTag(npmAddress, 'latest')).toMatchObject({ tag: '2.0.0', manifest: { name: 'two' } })
    expect(await fetchTag(npmAddress, '1.0.0')).toMatchObject({ tag: '1.0.0', manifest: { name: 'one' } })
  })

  test('sends no request for a pinned version', async () => {
    expect(await findLatestTag(origins, { ...npmAddress, version: '1.0.0' }, undefined)).toBe('1.0.0')
    expect(registry.requests).toEqual([])
  })

  test('accepts an old SHA-1 and the strongest of several hashes', async () => {
    const archive = packFiles(plugin('x'))
    const { createHash } = await import('node:crypto')
    const shasum = createHash('sha1').update(archive).digest('hex')
    registry.publish('@a/plugin', '3.0.0', archive, { integrity: undefined, shasum })
    expect((await fetchTag(npmAddress, '3.0.0')).tag).toBe('3.0.0')
    const wrong = 'sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA='
    const right = `sha512-${createHash('sha512').update(archive).digest('base64')}`
    registry.publish('@a/plugin', '3.0.1', archive, { integrity: `${wrong} ${right}` })
    expect((await fetchTag(npmAddress, '3.0.1')).tag).toBe('3.0.1')
  })

  test.each<[string, object]>([
    ['another hash', { integrity: `sha512-${Buffer.alloc(64).toString('base64')}` }],
    ['a hash of the wrong length', { integrity: 'sha512-AAAA' }],
    ['another SHA-1', { integrity: undefined, shasum: '0'.repeat(40) }],
    ['no hash', { integrity: undefined }],
    ['an unknown hash', { integrity: 'crc32-AAAA' }],
  ])('refuses an archive with %s', async (_name, dist) => {
    registry.publish('@a/plugin', '4.0.0', plugin('x'), dist)
    const [code, message] = await faultOf(fetchTag(npmAddress, '4.0.0'))
    expect(code).toBe('download_failed')
    expect(message).toContain('integrity hash')
  })

  test('refuses archives that attack', async () => {
    const escaping = makeTgz([...archiveEntries(plugin('x'), 'package'), { path: '../../evil.js', content: '' }])
    registry.publish('@a/plugin', '5.0.0', escaping)
    expect((await faultOf(fetchTag(npmAddress, '5.0.0')))[1]).toContain('leads outside')
    registry.publish('@a/plugin', '5.0.1', makeTgz([{ path: 'package/zeros', content: Buffer.alloc(60 << 20) }]))
    expect((await faultOf(fetchTag(npmAddress, '5.0.1')))[1]).toContain('larger than')
    registry.publish('@a/plugin', '5.0.2', Buffer.alloc(100_001))
    expect(await faultOf(fetchTag(npmAddress, '5.0.2'))).toEqual([
      'download_failed',
      expect.stringContaining('larger than'),
    ])
    const link = makeTgz([{ path: 'package/plugin.json', type: '2', linkTarget: '/etc/passwd' }])
    registry.publish('@a/plugin', '5.0.3', link)
    expect((await faultOf(fetchTag(npmAddress, '5.0.3')))[1]).toContain('link')
  })

  test('does not follow a tarball or a redirect to a private address', async () => {
    registry.publish('@a/plugin', '6.0.0', plugin('x'), { tarball: `${elsewhere.url}/secret` })
    expect((await faultOf(fetchTag(npmAddress, '6.0.0')))[1]).toContain('not a public address')
    registry.publish('@a/plugin', '6.0.1', plugin('x'), { tarball: `${registry.url}/hop` })
    registry.answer('/hop', (_request, response) => response.writeHead(302, { location: elsewhere.url }).end())
    expect((await faultOf(fetchTag(npmAddress, '6.0.1')))[1]).toContain('not a public address')
    registry.publish('@a/plugin', '6.0.2', plugin('x'), { tarball: 'file:///etc/passwd' })
    expect((await faultOf(fetchTag(npmAddress, '6.0.2')))[0]).toBe('download_failed')
    expect(elsewhere.requests).toEqual([])
  })

  test('says what the registry did instead of answering', async () => {
    expect(await faultOf(fetchTag({ ...npmAddress, name: 'gone' }, 'latest'))).toEqual([
      'lookup_failed',
      expect.stringContaining('does not have it'),
    ])
    registry.answer('/broken/latest', (_request, response) => response.writeHead(503).end())
    expect((await faultOf(fetchTag({ ...npmAddress, name: 'broken' }, 'latest')))[1]).toContain('status 503')
    registry.answer('/html/latest', (_request, response) => response.end('<html>'))
    expect((await faultOf(fetchTag({ ...npmAddress, name: 'html' }, 'latest')))[1]).toContain('JSON')
    registry.answerJson('/odd/latest', { version: 1 })
    expect((await faultOf(fetchTag({ ...npmAddress, name: 'odd' }, 'latest')))[1]).toContain('no such release')
    registry.answer('/slow/latest', () => {})
    expect((await faultOf(fetchTag({ ...npmAddress, name: 'slow' }, 'latest')))[1]).toContain('did not respond within')
    registry.answer('/cut/latest', request => request.socket.destroy())
    expect((await faultOf(fetchTag({ ...npmAddress, name: 'cut' }, 'latest')))[1]).toContain('could not be reached')
  })

  test('asks the mirror for tarballs that it lists at the registry it mirrors', async () => {
    registry.publish('@a/plugin', '7.0.0', plugin('x'))
    const public7 = 'https://upstream.test/@a/plugin/-/plugin-7.0.0.tgz'
    const archive = packFiles(plugin('x'))
    registry.publish('@a/plugin', '7.0.0', archive, { tarball: public7 })
    expect((await fetchTag(npmAddress, '7.0.0')).tag).toBe('7.0.0')
  })
})

describe('GitHub', () => {
  const address = (url: string) => parseAddress(url).address as RemoteAddress
  const repository = 'https://github.com/o/r'

  test('takes the newest commit of a branch, and what is pinned as it is', async () => {
    const seen: (string | undefined)[] = []
    registry.answer('/repos/o/r/commits', (request, response) => {
      seen.push(request.headers.authorization)
      response.end(JSON.stringify([{ sha: `newest ${request.url!.split('?')[1]}` }]))
    })
    const latest = (url: string, token?: string) => findLatestTag(origins, address(url), token)
    expect(await latest(repository)).toBe('newest per_page=1')
    expect(await latest(`${repository}/tree/main/sub/dir`, 'mine')).toBe('newest per_page=1&sha=main&path=sub%2Fdir')
    expect(await latest(`${repository}/commit/abc`)).toBe('abc')
    expect(await latest(`${repository}/releases/tag/v1`)).toBe('refs/tags/v1')
    expect(await latest(`${repository}/archive/v2.zip`)).toBe('v2')
    expect(seen).toEqual(['Bearer ours', 'Bearer mine'])
  })

  test('unpacks the repository, or one folder of it', async () => {
    const files = { ...archiveFiles('top', 'o-r-1/'), ...archiveFiles('sub', 'o-r-1/sub/dir/') }
    const zip = makeZip(Object.entries(files).map(([path, content]) => ({ path, content })))
    registry.answer('/repos/o/r/zipball/refs/tags/v1', (_request, response) => response.end(zip))
    expect((await fetchTag(address(repository), 'refs/tags/v1')).manifest.name).toBe('top')
    expect((await fetchTag(address(`${repository}/tree/main/sub/dir`), 'refs/tags/v1')).manifest.name).toBe('sub')
    expect((await faultOf(fetchTag(address(`${repository}/tree/main/sub`), 'refs/tags/v1')))[1]).toContain(
      'no plugin.json',
    )
  })

  test('says when there is no such commit or archive', async () => {
    registry.answerJson('/repos/o/empty/commits', [])
    expect((await faultOf(findLatestTag(origins, address('https://github.com/o/empty'), undefined)))[0]).toBe(
      'lookup_failed',
    )
    registry.answerJson('/repos/o/error/commits', { message: 'no' })
    expect((await faultOf(findLatestTag(origins, address('https://github.com/o/error'), undefined)))[0]).toBe(
      'lookup_failed',
    )
    expect((await faultOf(fetchTag(address('https://github.com/o/none'), 'x')))[0]).toBe('download_failed')
  })
})

describe('GitLab', () => {
  test('resolves a branch to its newest commit and fetches that', async () => {
    const { address } = parseAddress('https://gitlab.com/g/s/p/-/tree/dev')
    registry.answerJson('/projects/g/s/p/repository/commits?per_page=1&ref_name=dev', [{ id: 'abc' }])
    expect(await findLatestTag(origins, address as RemoteAddress, undefined)).toBe('abc')
    const zip = makeZip(Object.entries(archiveFiles('lab', 'p-abc/')).map(([path, content]) => ({ path, content })))
    registry.answer('/projects/g/s/p/repository/archive.zip?sha=abc', (_request, response) => response.end(zip))
    expect((await fetchTag(address as RemoteAddress, 'abc')).manifest.name).toBe('lab')
  })
})

const archiveFiles = (name: string, folder: string): Record<string, string> => ({
  [`${folder}plugin.json`]: JSON.stringify({ name }),
  [`${folder}index.js`]: 'exports.a = 1',
})
