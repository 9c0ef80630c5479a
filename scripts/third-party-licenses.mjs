// The licenses of the packages whose code is part of a bundle: they ask to be passed on with it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dist } from './server-bundle.mjs'

const separator = `\n${'-'.repeat(80)}\n\n`

/** `files`: everything that a bundle contains; files outside of node_modules are our own. Server and web app are built apart and share the text. */
export function writeLicenses(bundle, files) {
  const listOf = name => join(dist, `.packages-${name}.json`)
  writeFileSync(listOf(bundle), JSON.stringify(packageFolders(files)))
  const lists = ['server', 'web'].map(listOf).filter(path => existsSync(path))
  const bundled = lists.flatMap(path => JSON.parse(readFileSync(path, 'utf8')))
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses([...new Set(bundled)]))
}

export function thirdPartyLicenses(folders) {
  const packages = folders
    .filter(folder => existsSync(folder))
    .map(folder => ({ folder, ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const notices = new Map(packages.map(one => [`${one.name} ${one.version}`, noticeOf(one)]))
  const opening = `Halyard's bundles contain code of these ${notices.size} packages. Packages that are installed beside them have their own license files.\n`
  return [opening, ...notices.values()].join(separator)
}

/** The folders of the packages that the files belong to, each once. */
export const packageFolders = files => [
  ...new Set(files.flatMap(file => packageFolder(file.replaceAll('\\', '/')) ?? [])),
]

/** `/a/node_modules/@scope/name/lib/x.js` → `/a/node_modules/@scope/name`. */
function packageFolder(file) {
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]
}

function noticeOf({ folder, name, version, license, licenses }) {
  const texts = readdirSync(folder)
    .filter(file => /^(licen[cs]e|copying|notice)(\.|-|$)/i.test(file))
    .sort()
    .map(file => readFileSync(join(folder, file), 'utf8').trim())
  return `${name} ${version}\nLicense: ${license ?? licenses?.map(({ type }) => type).join(', ')}\n\n${texts.join('\n\n')}\n`
}
