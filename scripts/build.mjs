// Builds the server, the dashboard and the docs site. Assumes that everything is installed; `prepare.mjs` builds only what is out of date.
import { buildServer } from './build-server.mjs'
import { buildWeb } from './build-web.mjs'
import { buildDocs } from './docs-site/build.mjs'

await buildServer()
await buildWeb()
await buildDocs()
