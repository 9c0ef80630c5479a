#!/usr/bin/env node
import { enableCompileCache } from './compile-cache.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`halyard: Node 20.19 or newer is required; this is ${process.version}.`)
  process.exit(78)
}

enableCompileCache()
// Loaded after the check and the cache: an older Node may not even parse the program.
await import(new URL('./program.js', import.meta.url).href)
