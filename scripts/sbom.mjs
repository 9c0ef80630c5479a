// `npm run sbom`: what is installed, from the lock file, as CycloneDX 1.6. Names, versions, licences and hashes; no addresses, no dates, so that the
// same lock file always gives the same bill.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

export function billOfMaterials(lock) {
  const installed = Object.entries(lock.packages)
    .filter(([path, entry]) => path.includes('node_modules/') && !entry.link)
    .map(([path, entry]) => component(path, entry))
  const components = [...new Map(installed.map(entry => [entry['bom-ref'], entry])).values()].sort((a, b) =>
    a['bom-ref'] < b['bom-ref'] ? -1 : 1,
  )
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(components))}`,
    version: 1,
    metadata: { component: { type: 'application', name: 'halyard', version: lock.version } },
    components,
  }
}

function component(path, entry) {
  const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = `pkg:npm/${name.replace('@', '%40')}@${entry.version}`
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version: entry.version,
    scope: entry.dev ? 'excluded' : entry.optional ? 'optional' : 'required',
    ...(entry.license && { licenses: [{ expression: entry.license }] }),
    ...(entry.integrity && { hashes: hashes(entry.integrity) }),
    purl,
  }
}

const algorithms = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }
const hashes = integrity =>
  integrity.split(/\s+/).map(one => {
    const [algorithm, value] = one.split(/-(.*)/)
    return { alg: algorithms[algorithm], content: Buffer.from(value, 'base64').toString('hex') }
  })

function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

if (process.argv[1]?.endsWith('sbom.mjs')) {
  const bill = billOfMaterials(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  writeFileSync(join(root, 'sbom.json'), `${JSON.stringify(bill, null, 2)}\n`)
  console.log(`${bill.components.length} components in sbom.json`)
}
