import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findKeys, indexKeys } from './find-keys.ts'

const linesOf = (text: string, ...keys: string[]) =>
  findKeys(text, indexKeys(keys)).map(({ key, line }) => `${line} ${key}`)

it('finds whole keys only', () => {
  const text = "a('new-cart')\nb(new-cart-2)\nc(old-new-cart)\nenum.NEW_CART = new-cart;\n--new-cart"
  expect(linesOf(text, 'new-cart')).toEqual(['1 new-cart', '4 new-cart'])
})

it('finds a key that is an ordinary word only in quotes', () => {
  const text = 'import checkout\nisEnabled("checkout")\n`checkout`\n\'checkout"\n{"checkout": true}'
  expect(linesOf(text, 'checkout')).toEqual(['2 checkout', '3 checkout', '5 checkout'])
})

it('finds keys of unusual characters in quotes, and each key once per line', () => {
  const text = "it's on('beta: new cart', 'beta: new cart')\nbeta: new cart\non('größe') on(\"x_1\", 'x_1', x_1)"
  expect(linesOf(text, 'beta: new cart', 'größe', 'x_1')).toEqual(['1 beta: new cart', '3 x_1', '3 größe'])
})

it('shows the key within a long line', () => {
  const [found] = findKeys(`${'😀'.repeat(3000)} 'new-cart' ${'x'.repeat(3000)}`, indexKeys(['new-cart']))
  expect(found?.excerpt).toContain("'new-cart'")
  expect(found?.excerpt.length).toBeLessThanOrEqual(200)
})

it('finds a quoted key anywhere, in bounded excerpts', () => {
  const keyOf = fc.string({ minLength: 1, maxLength: 30 }).filter(key => !/[\n'"`]/.test(key))
  fc.assert(
    fc.property(keyOf, fc.array(fc.string()), (key, lines) => {
      const text = [...lines, `call("${key}")`].join('\n')
      const found = findKeys(text, indexKeys([key]))
      expect(found.at(-1)).toMatchObject({ key, line: text.split('\n').length })
      for (const { excerpt } of found) expect(excerpt.length).toBeLessThanOrEqual(200)
    }),
  )
})
