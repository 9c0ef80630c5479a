import type { Outgoing } from '../../../../outgoing/outgoing.ts'
import { checkIntegrity } from '../archive/integrity.ts'
import { isObject } from '../config-field.ts'
import type { NpmAddress } from '../plugin-address.ts'
import type { NpmSettings } from './npm-settings.ts'
import { lookupFailed, type Origin, type OriginLimits, originLimits } from './origin.ts'
import { bearer, fetchArchive, lookUp } from './origin-request.ts'

interface NpmRelease {
  version: string
  tarball: string
  integrity: string | undefined
  shasum: string | undefined
}

export function createNpmOrigin(
  outgoing: Outgoing,
  settings: NpmSettings,
  limits: OriginLimits = originLimits,
): Origin<NpmAddress> {
  async function findRelease(name: string, tag: string, token: string | undefined, signal?: AbortSignal) {
    const registry = settings.registryFor(name)
    const url = `${registry.url}/${name.replace('/', '%2F')}/${encodeURIComponent(tag)}`
    return readRelease(await lookUp(outgoing, url, bearer(token ?? registry.token), limits, signal))
  }

  return {
    async findLatest({ name, version }, token, signal) {
      return version ?? (await findRelease(name, 'latest', token, signal)).version
    },
    async download({ name }, tag, token, signal) {
      const release = await findRelease(name, tag, token, signal)
      const registry = settings.registryFor(name)
      const tarball = rehost(release.tarball, registry.url)
      const isAtRegistry = new URL(tarball).origin === new URL(registry.url).origin
      const key = isAtRegistry ? (token ?? registry.token) : undefined
      const archive = await fetchArchive(outgoing, tarball, bearer(key), limits, signal)
      checkIntegrity(archive, release)
      return { tag: release.version, archive, folder: undefined }
    },
  }
}

function readRelease(document: unknown): NpmRelease {
  const dist = isObject(document) ? document.dist : undefined
  const isComplete = isObject(document) && typeof document.version === 'string' && isObject(dist)
  if (!isComplete || typeof dist.tarball !== 'string' || !URL.canParse(dist.tarball)) {
    throw lookupFailed('the registry has no such release.')
  }
  return {
    version: document.version as string,
    tarball: dist.tarball,
    integrity: typeof dist.integrity === 'string' ? dist.integrity : undefined,
    shasum: typeof dist.shasum === 'string' ? dist.shasum : undefined,
  }
}

/**
 * A mirror often returns the tarball URL of the registry that it mirrors. Like the npm client, this downloads from the mirror then, if the
 * URL has the usual layout of registries.
 */
function rehost(tarball: string, registry: string): string {
  const layout = /^https?:\/\/[^/]+(\/(?:@[^/]+\/)?[^/]+\/-\/[^/]+\.tgz)$/.exec(tarball)
  return layout ? registry + layout[1] : tarball
}
