// Builds one package: bundles as ESM, and as CommonJS where the manifest has it, and declarations.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from '../prepare.mjs'
import { packageFolders, thirdPartyLicenses } from '../third-party-licenses.mjs'
import { copyDeclarations } from './copy-declarations.mjs'
import { flattenContract } from './flatten-contract.mjs'

/** Writes the modules, commands and declarations of the package into the folder. */
export async function buildPackage(name, dist) {
  const folder = join(root, 'packages', name)
  const { manifest, entries } = readPackage(folder)
  const commands = Object.keys(manifest.bin ?? {}).map(command => `./src/${command}.ts`)
  const isCommonJs = manifest.main?.endsWith('.cjs') ?? false
  mkdirSync(dist, { recursive: true })
  const bundled = await bundle([...entries, ...commands], manifest, folder, 'esm', dist)
  if (isCommonJs) await bundle(entries, manifest, folder, 'cjs', dist)
  for (const file of Object.values(manifest.bin ?? {})) chmodSync(join(dist, '..', file), 0o755)
  const folders = packageFolders(bundled.map(path => join(root, path)))
  if (folders.length > 0) writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses(folders))
  emitDeclarations(name, dist, manifest, entries, isCommonJs)
}

/** Copies the package to another folder, with its modules and without declarations. */
export async function copyModules(name, target) {
  const folder = join(root, 'packages', name)
  const { manifest, entries } = readPackage(folder)
  await bundle(entries, manifest, folder, 'esm', join(target, 'dist'))
  cpSync(join(folder, 'package.json'), join(target, 'package.json'))
}

function readPackage(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { manifest, entries: Object.values(manifest.exports).flatMap(entry => entry['halyard-source'] ?? []) }
}

async function bundle(entries, manifest, folder, format, outdir) {
  const { metafile } = await build({
    entryPoints: entries.map(entry => join(folder, entry)),
    outdir,
    outExtension: { '.js': format === 'esm' ? '.js' : '.cjs' },
    external: [
      'node:*',
      ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).flatMap(each => [each, `${each}/*`]),
    ],
    absWorkingDir: root,
    bundle: true,
    splitting: format === 'esm',
    chunkNames: 'chunks/[name]-[hash]',
    format,
    platform: 'neutral',
    target: 'es2022',
    jsx: 'automatic',
    conditions: ['halyard-source'],
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  })
  return Object.keys(metafile.inputs)
}

function emitDeclarations(name, dist, manifest, entries, isCommonJs) {
  const emitted = mkdtempSync(join(tmpdir(), 'halyard-declarations-'))
  // Workspace packages that are bundled have no declarations of their own in an application.
  const bundled = Object.keys(manifest.devDependencies ?? {}).filter(each => each.startsWith('@halyard/'))
  for (const each of [name, ...bundled.map(scoped => scoped.replace('@halyard/', ''))]) emit(each, emitted)
  if (name === 'contract') flattenContract(emitted)
  const isExternal = each => each in { ...manifest.dependencies, ...manifest.peerDependencies }
  const names = entries.map(entry => entry.replace(/^\.\/src\/|\.tsx?$/g, ''))
  for (const format of isCommonJs ? ['js', 'cjs'] : ['js'])
    copyDeclarations({ name, emitted, dist, names, isExternal, format })
  rmSync(emitted, { recursive: true })
}

function emit(name, outDir) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', outDir]
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [compiler, '-p', join(root, 'packages', name), ...options, '--rootDir', join(root, 'packages')],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`The declarations of ${name} cannot be emitted:\n${stdout}${stderr}`)
}
