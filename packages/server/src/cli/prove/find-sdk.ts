import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ImportSource } from '@halyard/migrate/model'
import { loadSdk, packageOf, type VendorSdk } from '@halyard/migrate/prove/vendor-sdks'

/** Undefined when the SDK is not installed in the directory or above it. */
export function findSdk(source: ImportSource, directory: string): VendorSdk | undefined {
  const packageName = packageOf(source)
  const require = createRequire(join(directory, 'index.js'))
  const folder = require.resolve.paths(packageName)?.find(path => existsSync(join(path, packageName, 'package.json')))
  if (folder === undefined) return undefined
  const { version } = JSON.parse(readFileSync(join(folder, packageName, 'package.json'), 'utf8')) as { version: string }
  return { packageName, version, load: document => loadSdk(source, document, { require, folder }) }
}
