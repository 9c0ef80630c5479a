/** Tests that speak HTTP load the bundle that `npm start` runs. */
export { ensureServerBuilt as default } from '../scripts/prepare.mjs'
