/**
 * What is needed of undici, in a module of its own: a bundler gives a CommonJS package that is imported on demand no
 * names but `default`, while the names of a module of ours stay what they are.
 */
export { Agent, request } from 'undici'
