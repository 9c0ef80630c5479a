#!/usr/bin/env node
// `npm start` serves; `npm run halyard -- <command>` runs any other command. Both install and build first, if there is a need.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt, ensureInstalled, root, say } from './prepare.mjs'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  say(`Halyard needs Node 20.19 or newer; this is ${process.version}.`)
  process.exit(1)
}

await ensureInstalled('run')
ensureBuilt()
await import(pathToFileURL(join(root, 'packages', 'server', 'dist', 'halyard.js')).href)
