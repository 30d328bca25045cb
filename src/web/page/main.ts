// The page: what each result file is, in words, then its sections.

import { repaint } from './chart';
import { text, type PageData, type ResultFile, type Run } from './data';
import { densitySection } from './density';
import { copyButton, h, section } from './dom';
import { sampleLaw, type Law } from './law';
import { depthSections, depthWords, figureSections, greenSection } from './others';
import { runsSections } from './runs';
import { agreementSection, averageSection, bestMetrics, certificateSection, lawsOf, metricsSection, mixerSection, networkSection, sensitivitySection, simulationWords } from './sections';
import { brief, percent } from './format';
import { trainingSections, trainingsSection, trainingWords } from './training';
import { evolutionSection, judged, validationSections } from './validation';

const kinds: Record<ResultFile['kind'], string> = {
    analysis: 'Analysis of a network', runs: 'Many networks', validation: 'Validation of a trained model', training: 'Training run',
    'depth-limit': 'Depth limit', figure: 'Figure',
};

function titleOf(file: ResultFile): string {
    if (file.trained) return text(file.trained.attributes, 'model') || text(file.trained.attributes, 'file').split('/').pop() || file.name;
    if (file.training) return `${text(file.training.attributes, 'architecture')} on ${text(file.training.attributes, 'task')}: ${text(file.training.attributes, 'model')}`;
    if (file.depth_limit) return text(file.depth_limit.attributes, 'title') || file.name;
    if (file.figure) return text(file.figure.attributes, 'title') || file.name;
    if (file.run) return text(file.run.network.attributes, 'title') || file.name;
    return file.runs ? `${file.networks ?? file.runs.length} networks` : file.name;
}

/// The result in a sentence.
function leadOf(file: ResultFile): string {
    if (file.trained) {
        const metrics = judged(file);
        return `${brief(text(file.trained.attributes, 'verdict'), 20)}: ${percent(metrics?.window)} of the singular values lie in [0.75, 1.25], ${percent(metrics?.collapsed)} have collapsed below 0.1.`;
    }
    if (file.training) return trainingWords(file.training).words;
    if (file.depth_limit) return depthWords(file);
    if (file.runs) {
        const sure = file.runs.filter((run) => !run.doubts.length).length;
        const best = [...file.runs].sort((a, b) => (bestMetrics(b)?.window ?? -1) - (bestMetrics(a)?.window ?? -1))[0];
        return `${sure} of ${file.runs.length} networks are certified.` + (best ? ` The largest share in [0.75, 1.25] is ${percent(bestMetrics(best)?.window)}: ${best.name}.` : '');
    }
    return file.run?.answer ?? '';
}

function provenanceSection(file: ResultFile): HTMLElement {
    const p = file.provenance;
    const facts: [string, string][] = [['file', file.name], ['program', `spectra ${p.program_version} (${p.git})`], ['created', p.created], ['seed', p.seed ?? ''], ['settings', p.settings === '{}' ? '' : p.settings]];
    return section('Where it came from', h('dl', { class: 'facts' }, facts.filter(([, value]) => value).map(([key, value]) => [h('dt', {}, key), h('dd', {}, value)])),
        h('p', {}, 'The same command makes the same numbers again:'),
        h('pre', { tabindex: 0, 'aria-label': 'Command' }, p.command), copyButton('Copy the command', () => p.command));
}

function analysisSections(data: PageData, run: Run): (HTMLElement | null)[] {
    const laws = lawsOf(run);
    return [
        laws.length ? section('Density of the singular values', run.simulation && h('p', { class: 'note' }, simulationWords(run)), densitySection(laws)) : null,
        Object.keys(run.metrics ?? {}).length ? metricsSection(data, run.metrics!) : null,
        agreementSection(run), certificateSection(run), sensitivitySection(run), averageSection(data, run),
        mixerSection(run.network.mixers, undefined, 'Layer')?.element ?? null, networkSection(run),
    ];
}

function sectionsOf(data: PageData, file: ResultFile): HTMLElement[] {
    const out: (HTMLElement | null)[] = [];
    if (file.trained) out.push(...validationSections(data, file));
    else if (file.run) out.push(...analysisSections(data, file.run));
    if (file.trained && file.run) out.push(networkSection(file.run));
    if (file.runs) out.push(...runsSections(data, file.runs.map((run) => ({ run, label: run.name })), file.networks ?? file.runs.length));
    if (file.training) out.push(...trainingSections(file.training));
    if (file.depth_limit) out.push(...depthSections(file));
    if (file.figure) out.push(...figureSections(file));
    out.push(greenSection(file), provenanceSection(file));
    return out.filter((s): s is HTMLElement => s !== null);
}

/// What several files have in common, before each of them.
function together(data: PageData): HTMLElement[] {
    const out: HTMLElement[] = [];
    const trained = data.files.filter((file) => file.trained), training = data.files.filter((file) => file.training);
    if (trained.length > 1) out.push(evolutionSection(trained));
    if (training.length > 1) out.push(trainingsSection(training));
    const networks = data.files.flatMap((file) => file.trained ? [] : file.run ? [{ run: file.run, label: file.name.replace(/\.h5$/, '') }]
        : (file.runs ?? []).map((run) => ({ run, label: run.name })));
    const sources = data.files.filter((file) => !file.trained && (file.run || file.runs)).length;
    if (sources > 1 && networks.length > 1) {
        // One law of every network in one picture, while there are few.
        if (networks.length <= 8) {
            const laws = networks.map(({ run, label }): Law | undefined => {
                const best = lawsOf(run).find((law) => !law.sample) ?? (run.simulation ? sampleLaw('', label, run.simulation) : undefined);
                return best && { ...best, id: label, label };
            }).filter((law): law is Law => law !== undefined);
            out.push(section('All networks in one picture', densitySection(laws)));
        }
        out.push(...runsSections(data, networks, networks.length));
    }
    return out;
}

function navigation(root: HTMLElement): HTMLElement {
    const links = Array.from(root.querySelectorAll('section > h2')).filter((heading) => !heading.closest('details')).map((heading) =>
        h('li', {}, h('a', { href: `#${heading.id}` }, heading.textContent)));
    return h('nav', { 'aria-label': 'Sections' }, h('ul', {}, links));
}

function build(data: PageData): void {
    const main = h('main', { id: 'content' });
    if (data.files.length === 1) {
        const file = data.files[0], lead = leadOf(file);
        main.append(h('header', {}, h('p', { class: 'kind' }, kinds[file.kind]), h('h1', {}, brief(titleOf(file))), lead && h('p', { class: 'lead' }, lead)), ...sectionsOf(data, file));
    } else {
        main.append(h('header', {}, h('p', { class: 'kind' }, 'Several results'), h('h1', {}, `${data.files.length} result files`),
            h('ul', {}, data.files.map((file) => h('li', {}, h('strong', {}, brief(titleOf(file))), `: ${leadOf(file)}`)))), ...together(data));
        // Each file by itself is built when it is opened.
        main.append(section('Each file', data.files.map((file) => {
            const details = h('details', { class: 'file' }, h('summary', {}, brief(`${file.name}: ${titleOf(file)}`)));
            details.addEventListener('toggle', () => {
                if (details.open && details.childElementCount === 1) details.append(...sectionsOf(data, file));
            });
            return details;
        })));
    }
    const links = navigation(main);
    main.querySelector('header')!.after(links);
    document.body.append(h('a', { class: 'skip', href: '#content' }, 'Skip to the content'), main,
        h('footer', {}, h('p', {}, 'Written by spectra. This page is one file and makes no request. Charts: uPlot (MIT).')));
}

const source = document.getElementById('data');
if (source?.textContent) build(JSON.parse(source.textContent) as PageData);
addEventListener('beforeprint', () => { document.documentElement.classList.add('printing'); repaint(true); });
addEventListener('afterprint', () => { document.documentElement.classList.remove('printing'); repaint(); });
