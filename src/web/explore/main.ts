// The explorer's page: a network to move, then what mixers do, part by part.

import { repaint } from '../page/chart';
import type { PageData } from '../page/data';
import { copyButton, h } from '../page/dom';
import { cayleyPart, eigenvaluePart, gatePart, skewPart } from './geometry';
import { networkSection } from './network';
import { resultsPart } from './results';
import { signalPart } from './signal';
import { Generator, part } from './story';
import { trapPart } from './trap';
import type { Settings } from './wasm';

function theoryPart(show: (change: Partial<Settings>) => void): HTMLElement {
    const links: [string, Partial<Settings>][] = [
        ['Ten bistochastic layers', { mixer: 'bistochastic', depth: 10, streams: 4, noise: 0.05 }],
        ['Ten orthogonal layers', { mixer: 'orthogonal', depth: 10, streams: 4, noise: 0.05 }],
        ['Ten gates at 0.95', { mixer: 'cayley-hybrid', gate: 0.95, beta: 1, depth: 10, streams: 4, noise: 0.05 }],
        ['A hundred nearly orthogonal layers', { mixer: 'cayley', depth: 100, streams: 4, noise: 0.05 }],
    ];
    return part('What theory predicts', [
        'For wide streams the singular values of a whole network follow from one equation in its mixers and branch variances; the explorer above solves it in this page, checks every point, and tests the result against sum rules that are known exactly.',
        'With isotropic branches, orthogonal mixers of any kind give exactly the law of the identity, at every depth; bistochastic ones, drawn at random, keep one direction in n and lose the rest, while trained ones often stay so near the identity that they lose nothing.',
        'The scalar theory, which multiplies layers as if they were numbers free of each other, agrees for one layer and for orthogonal mixers, and misses the peak at s = 1 that ten bistochastic layers leave.',
    ], 'Theory predicts what mixers do at the start. What trained models reach is a matter of measurement.', h('div', { class: 'toolbar' }, links.map(([words, change]) => h('button', { type: 'button', onclick: () => show(change) }, words))));
}

function checkPart(): HTMLElement {
    const commands = [
        'spectra --mixer my-mixers.csv --depth 24',
        'spectra validate CHECKPOINT --require "window>=0.9,collapsed<=0.05" --plot html',
    ];
    return part('Check your own model', [
        'Before training, give the program the mixers you plan: it predicts the singular values and simulates a network of finite width beside the prediction.',
        'After training, validate measures the model’s own Jacobian, predicts it from the model’s mixers and branches, and passes or fails it by requirements that you set.',
        'Trained layers come to depend on each other; the report shows how many directions per layer explain what was measured, and names the connection to change.',
    ], '', commands.map((line) => h('div', { class: 'command' }, h('pre', { tabindex: 0, 'aria-label': 'Command' }, line), copyButton('Copy', () => line))));
}

function navigation(root: HTMLElement): HTMLElement {
    return h('nav', { 'aria-label': 'Parts' }, h('ul', {}, Array.from(root.querySelectorAll('section > h2'))
        .map((heading) => h('li', {}, h('a', { href: `#${heading.id}` }, heading.textContent)))));
}

function build(data: PageData): void {
    const state = new Generator(), network = networkSection(data);
    const main = h('main', { id: 'content' },
        h('header', {}, h('p', { class: 'kind' }, 'Explorer'), h('h1', {}, 'Will gradients survive this depth?'),
          h('p', { class: 'lead' }, 'Deep networks with several residual streams mix them in every layer. This page shows what that does to signals and gradients, and lets you try it.')),
        network.element, signalPart(), skewPart(state), cayleyPart(state), eigenvaluePart(state), gatePart(state, network.show), trapPart(),
        theoryPart(network.show), resultsPart(), checkPart());
    main.querySelector('header')!.after(navigation(main));
    document.body.append(h('a', { class: 'skip', href: '#content' }, 'Skip to the content'), main,
        h('footer', {}, h('p', {}, 'Written by spectra. This page is one file and makes no request: the theory is solved here, by the program’s own solver as WebAssembly. Charts: uPlot (MIT).')));
}

build(JSON.parse(document.getElementById('data')!.textContent!) as PageData);
addEventListener('beforeprint', () => { document.documentElement.classList.add('printing'); repaint(true); });
addEventListener('afterprint', () => { document.documentElement.classList.remove('printing'); repaint(); });
