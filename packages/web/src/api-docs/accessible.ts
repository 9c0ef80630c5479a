import type { SwaggerPlugin, SwaggerSystem } from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** Replaces the parts of Swagger UI that assistive technology cannot use, or that the page does not need. */
export const accessibleComponents = ({ React }: SwaggerSystem): SwaggerPlugin => ({
  components: {
    // A link inside of the button that opens the operation; opening it sets the address as well.
    DeepLink: ({ text }: { text: string }) => React.createElement('span', null, text),
    // The page has its own heading, and there is one server.
    InfoContainer: () => null,
    ServersContainer: () => null,
  },
})

/** Adds names that Swagger UI leaves out, whenever it renders something. */
export function labelControls(reference: Element): void {
  const label = () => {
    for (const [selector, attributes] of labels) {
      for (const element of reference.querySelectorAll(selector)) {
        for (const [name, value] of Object.entries(attributes(element))) {
          if (element.getAttribute(name) !== value) element.setAttribute(name, value)
        }
      }
    }
  }
  label()
  new MutationObserver(label).observe(reference, { childList: true, subtree: true })
}

const labels: readonly [string, (element: Element) => Record<string, string>][] = [
  [
    '.operation-filter-input',
    () => ({ 'aria-label': 'Search operations', placeholder: 'Search by path, name or description' }),
  ],
  ['.close-modal', () => ({ 'aria-label': 'Close' })],
  // The accessible name must contain the visible one.
  ['.modal-btn', ({ textContent }) => ({ 'aria-label': textContent })],
  ['.auth-container h6', () => ({ role: 'heading', 'aria-level': '4' })],
  [
    'tr[data-param-name] :is(input, select, textarea)',
    element => ({ 'aria-label': element.closest('tr')?.getAttribute('data-param-name') ?? '' }),
  ],
  ['.body-param__text', () => ({ 'aria-label': 'Request body' })],
  ['[role=tablist]', () => ({ 'aria-label': 'Example or schema' })],
  // Scrollable, so the keyboard must get there.
  ['pre', () => ({ tabindex: '0' })],
]
